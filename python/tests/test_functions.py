"""`@ropewalk.function`, on the stand-in and its real Dask cluster; test_functions_stack.py has a real one."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import pytest
from stand_in import TOKEN, StandIn

import ropewalk
from ropewalk import function_clusters

#: Coiled's signature of 2026.
_COILED = (
    "software container vm_type cpu memory gpu account workspace region arm disk_size allow_ingress_from shutdown_on_close "
    "spot_policy idle_timeout keepalive package_sync_ignore environ threads_per_worker local name tags n_workers extra_kwargs"
).split()

Decorate = Callable[..., Any]


@pytest.fixture
def decorate(api: StandIn) -> Iterator[Decorate]:
    """`ropewalk.function` for the stand-in, without package sync. Ends the clusters of the test."""
    api.plan = {"provider": "local", "diskGib": None, "head": {"types": [{"vcpus": 3}]}}

    def make(extra: dict[str, Any] | None = None, **arguments: Any) -> Any:
        connection = {"api_url": api.url, "token": TOKEN, "quiet": True, "requirements": []}
        return ropewalk.function(**{"n_workers": 1, "extra_kwargs": {**connection, **(extra or {})}, **arguments})

    yield make
    for running in function_clusters._running.values():
        running.client.close()
        running.cluster.close()
    function_clusters._running.clear()


def double(number: int) -> int:
    return 2 * number


def test_the_arguments_are_those_of_coiled() -> None:
    parameters = inspect.signature(ropewalk.function).parameters.values()
    assert [one.name for one in parameters if one.kind is one.KEYWORD_ONLY] == _COILED


def test_calls_run_on_a_cluster_that_the_first_call_starts(api: StandIn, decorate: Decorate) -> None:
    twice, again = decorate()(double), decorate()(lambda number: number + 1)
    assert (twice.__name__, twice.name, api.sent("/v1/clusters")) == ("double", again.name, [])
    assert (twice(4), twice.submit(5).result(), list(twice.map([1, 2, 3]))) == (8, 10, [2, 4, 6])
    assert again(1) == 2 and again.client is twice.client and twice.cluster.name == twice.name
    (body,) = api.sent("/v1/clusters")
    assert (body["workers"], body["extraWorkerOnScheduler"], body["workerOptions"]) == (1, True, {"nthreads": 1})
    assert (body["idleTimeout"], body["noClientTimeout"]) == (21_600, 30)


def test_each_call_runs_and_failures_are_raised_or_left_out(decorate: Decorate, tmp_path: Any) -> None:
    def count(number: int) -> int:
        with open(tmp_path / "calls", "a") as calls:
            calls.write("x")
        return 6 // number

    counted = decorate()(count)
    assert [counted(2), counted(2)] == [3, 3] and (tmp_path / "calls").read_text() == "xx"
    assert list(counted.map([1, 0, 3], errors="skip")) == [6, 2]
    with pytest.raises(ZeroDivisionError):
        list(counted.map([1, 0]))
    with pytest.raises(ValueError, match="errors is 'drop'"):
        counted.map([1], errors="drop")


def test_machines_are_chosen_where_there_is_a_choice(api: StandIn, decorate: Decorate) -> None:
    # The scheduler's own worker, which the stand-in lacks, would run their calls.
    starts = [decorate(n_workers=None)(double)]
    starts += [decorate(n_workers=None, region="us-west-2")(double)]
    starts += [decorate(n_workers=None, gpu=True, spot_policy="spot", disk_size=50)(double)]
    for each in starts:
        assert each.cluster.name == each.name
        api.plan["diskGib"] = 30
    local, cloud, gpu = api.sent("/v1/clusters")
    assert local["workers"] == [0, 3] and "workerCpu" not in local and "spotPolicy" not in local
    assert (cloud["workers"], cloud["workerCpu"], cloud["schedulerCpu"]) == ([0, 500], 2, 2)
    assert (cloud["spotPolicy"], cloud["region"], cloud["name"] == local["name"]) == ("spot_with_fallback", "us-west-2", False)
    assert (gpu["workerGpu"], gpu["schedulerGpu"], gpu["spotPolicy"], gpu["workerDiskSize"]) == (True, True, "spot", "50 GiB")
    assert "workerCpu" not in gpu


def test_secrets_go_to_the_cluster_alone(api: StandIn, decorate: Decorate) -> None:
    def read() -> str | None:
        return os.environ.get("ROPEWALK_TEST_SECRET")

    reading = decorate(environ={"ROPEWALK_TEST_SECRET": "canary-1"})(read)
    assert reading() == "canary-1"
    assert decorate(environ={"ROPEWALK_TEST_SECRET": "canary-2"})(read).name == reading.name
    assert "canary" not in repr(api.requests) and "canary" not in repr(reading._settings)
    del os.environ["ROPEWALK_TEST_SECRET"]


def test_a_cluster_that_has_ended_is_started_anew(api: StandIn, decorate: Decorate) -> None:
    twice = decorate(shutdown_on_close=False)(double)
    first = twice.cluster
    assert twice(1) == 2 and "noClientTimeout" not in api.sent("/v1/clusters")[0]
    first.shutdown()
    for view in api.views.values():
        view["status"] = "stopped"
    assert twice(3) == 6 and twice.cluster is not first and len(api.sent("/v1/clusters")) == 2


def test_threads_wait_for_one_start(api: StandIn, decorate: Decorate) -> None:
    twice, results = decorate()(double), []
    threads = [threading.Thread(target=lambda: results.append(twice(2))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [4, 4, 4] and len(api.sent("/v1/clusters")) == 1


def test_local_calls_run_in_this_process(api: StandIn, decorate: Decorate) -> None:
    own = decorate()(lambda number: (os.getpid(), number))
    assert own.local(1) == (os.getpid(), 1) and list(own.local.map([2])) == [(os.getpid(), 2)]
    assert decorate(local=True)(double)(2) == 4 and api.requests == []


def test_a_task_cannot_start_the_cluster_of_another_function(decorate: Decorate) -> None:
    twice = decorate()(double)
    other = decorate(idle_timeout="1 hour")(lambda number: twice(number))
    with pytest.raises(RuntimeError, match=f"double runs on a cluster of its own, {twice.name}"):
        other(1)


def test_a_function_is_sent_to_clusters_without_this_package(decorate: Decorate) -> None:
    sent = cloudpickle.dumps(decorate(local=True)(lambda number: number + 1))
    program = "import cloudpickle, sys; print(cloudpickle.loads(sys.stdin.buffer.read())(1), 'ropewalk' in sys.modules)"
    assert subprocess.run([sys.executable, "-I", "-c", program], input=sent, capture_output=True).stdout == b"2 False\n"


def test_a_decorator_without_brackets_and_wrong_arguments() -> None:
    assert ropewalk.function(double).__name__ == "double"
    with pytest.raises(ValueError, match="n_workers"):
        ropewalk.function(n_workers=[5, 1])
    with pytest.raises(ValueError, match="not a valid name"):
        ropewalk.function(environ={"a=b": "c"})

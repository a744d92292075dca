"""Conditions for which the cluster object waits, and the end of the wait."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
from stand_in import TOKEN, StandIn, problem
from support import Start

import ropewalk
from ropewalk import cluster_waits


@pytest.mark.parametrize("amount", [True, 2, 0.5, 1.0])
def test_it_waits_for_the_given_amount_of_workers(start: Start, amount: Any) -> None:
    cluster = start(wait_for_workers=amount)
    assert len(cluster.scheduler_info["workers"]) >= (1 if amount == 0.5 else 2)


def test_it_waits_for_no_workers(start: Start, api: StandIn) -> None:
    api.workers_come = False
    assert len(start(wait_for_workers=False).scheduler_info["workers"]) == 0


def test_a_long_wait_for_the_scheduler_says_so_again(
    start: Start, api: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(cluster_waits, "_REPEAT_S", 0.0)
    api.reads_before_ready = 5
    start(quiet=False, show_widget=False, package_sync=False)
    said = capsys.readouterr().err.splitlines()
    assert said.count("Cluster 1: scheduler pending (environment)") == 1
    assert "Cluster 1: scheduler pending (environment), for 0 s" in said


def test_a_timeout_with_too_few_workers_shuts_the_cluster_down(start: Start, api: StandIn) -> None:
    api.workers_come = False
    with pytest.raises(TimeoutError, match="did not have 1 workers in time: 0 of 2 workers"):
        start(timeout=3, shutdown_on_close=False, package_sync=False)
    assert len(api.sent("/stop")) == 1


def test_a_timeout_names_the_failures_of_the_instances(start: Start, api: StandIn) -> None:
    api.workers_come = False
    api.outcome = {"failures": [{"code": "WORKER_FAILED", "text": "TypeError: 'nthread'", "count": 2}]}
    with pytest.raises(TimeoutError, match="0 of 2 workers.\n  2 x WORKER_FAILED: TypeError: 'nthread'"):
        start(timeout=3, shutdown_on_close=False, package_sync=False)


def test_a_failed_start_says_each_failure_once(start: Start, api: StandIn) -> None:
    failures = [{"code": "WORKER_FAILED", "text": "TypeError: 'nthread'", "count": 2}]
    reason = {"code": "START_FAILED", "text": "no worker could be started; 2 x WORKER_FAILED: TypeError: 'nthread'"}
    api.outcome = {"status": "error", "reason": reason, "failures": failures}
    with pytest.raises(ropewalk.ClusterFailedError) as caught:
        start(wait_for_workers=True)
    assert str(caught.value).count("nthread") == 1


def test_a_failed_start_raises_the_grouped_reasons(start: Start, api: StandIn) -> None:
    api.outcome = {
        "status": "error",
        "reason": {"code": "FAILED_START", "text": "not enough workers"},
        "failures": [{"code": "ENVIRONMENT_FAILED", "text": "no such package", "count": 2}],
    }
    with pytest.raises(ropewalk.ClusterFailedError, match="not enough workers\n  2 x ENVIRONMENT_FAILED") as caught:
        start(wait_for_workers=True)
    assert caught.value.code == "FAILED_START"


def test_partial_success_is_success(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=2, wait_for_workers=True)
    api.workers_come = False
    cluster.scale(3)
    api.views[1]["dask"]["workersErrored"] = 1
    cluster.wait_for_workers(True, timeout=10)
    assert len(cluster.scheduler_info["workers"]) == 2
    with pytest.raises(ropewalk.ClusterFailedError, match="has 3 workers, fewer than 4"):
        cluster.wait_for_workers(4, timeout=10)


def test_waiting_ends_with_the_cluster(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, wait_for_workers=True)
    api.views[1].update(status="stopped", reason={"code": "IDLE", "text": "nothing was computed for 20 minutes"})
    with pytest.raises(ropewalk.ClusterFailedError, match="Cluster 1 has ended: nothing was computed"):
        cluster.wait_for_workers(2)


def test_a_scheduler_that_does_not_start_in_time_is_a_timeout(start: Start, api: StandIn) -> None:
    api.reads_before_ready = 10_000
    with pytest.raises(ropewalk.ClusterTimeoutError, match=r"its scheduler in time: scheduler pending \(environment\)"):
        start(timeout=0.3)
    assert len(api.sent("/stop")) == 1


def test_an_unreachable_api_is_awaited_until_the_timeout() -> None:
    began = time.monotonic()
    with pytest.raises(ropewalk.ClusterTimeoutError, match="does not answer") as caught:
        ropewalk.Cluster(timeout="1 second", api_url="http://127.0.0.1:1", token=TOKEN, quiet=True)
    assert time.monotonic() - began < 5
    assert caught.value.code == "TIMEOUT" and isinstance(caught.value.__cause__, ropewalk.RopewalkError)
    assert caught.value.__cause__.code == "UNREACHABLE"


@pytest.mark.parametrize("end", ["/v1/clusters/1", "/credentials", "/keepalive"])
def test_an_api_that_becomes_unreachable_is_awaited_until_the_timeout(start: Start, api: StandIn, end: str) -> None:
    method = "POST" if end == "/keepalive" else "GET"
    api.faults += [(method, end, *problem(503, "UNAVAILABLE", "Not now."))] * 1000
    began = time.monotonic()
    with pytest.raises(ropewalk.ClusterTimeoutError, match="Not now"):
        start(n_workers=1, timeout=5, keepalive="5m", package_sync=False)
    # Less than the minutes that a cluster's start may take.
    assert time.monotonic() - began < 60
    assert len(api.sent("/stop")) == 1


def test_an_api_that_hangs_is_awaited_until_the_timeout(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        cluster._remote.api.url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(ropewalk.ClusterTimeoutError, match="does not answer"):
            cluster.wait_for_workers(2, timeout=0.5)
        assert time.monotonic() - began < 60
    cluster._remote.api.url = api.url

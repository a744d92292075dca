"""The cluster object before a stand-in for the API and a real Dask scheduler with TLS."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from distributed import Client
from distributed.deploy import Cluster as DaskCluster
from stand_in import TOKEN, StandIn, problem

import ropewalk
from ropewalk import life

Start = Callable[..., ropewalk.Cluster]


def eventually(is_so: Callable[[], Any], within_s: float = 10) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, "it did not become so in time"
        time.sleep(0.02)


def test_it_computes_and_is_stopped_with_its_object(api: StandIn) -> None:
    with ropewalk.Cluster(n_workers=2, name="first", api_url=api.url, token=TOKEN, quiet=True) as cluster:
        assert isinstance(cluster, DaskCluster)
        client = cluster.get_client()
        assert client.submit(sum, [1, 2, 3]).result() == 6
        assert cluster.get_client() is client
        assert api.sent("/stop") == []
        client.close()
    assert len(api.sent("/stop")) == 1
    assert cluster.status.name == "closed"
    cluster.close()
    assert len(api.sent("/stop")) == 1


def test_what_was_asked_for_is_what_is_sent(start: Start, api: StandIn) -> None:
    start(
        n_workers=1,
        name="all",
        requirements=["pandas==2.3.1", "dask==2026.8.0"],
        worker_class="distributed.Nanny",
        worker_options={"nthreads": 2},
        scheduler_options={"validate": True},
        environ={"A": "b"},
        idle_timeout="30 minutes",
        keepalive="5m",
        private_to_creator=True,
    )
    assert api.sent("/v1/clusters") == [
        {
            "name": "all",
            "getOrCreate": False,
            "workers": 1,
            "requirements": ["pandas==2.3.1", "dask==2026.8.0"],
            "env": {"A": "b"},
            "workerClass": "distributed.Nanny",
            "workerOptions": {"nthreads": 2},
            "schedulerOptions": {"validate": True},
            "idleTimeout": 1800,
            "noClientTimeout": 300,
            "privateToCreator": True,
        }
    ]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"idle_timeout": "soon"}, "idle_timeout is 'soon'"),
        ({"keepalive": 0}, "keepalive is 0"),
        ({"timeout": -1}, "timeout is -1"),
        ({"wait_for_workers": 1.5}, "whole number"),
    ],
)
def test_mistakes_are_named_before_anything_is_started(start: Start, api: StandIn, options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        start(**options)
    assert api.requests == []


def test_in_an_event_loop(api: StandIn) -> None:
    async def run() -> None:
        options = {"api_url": api.url, "token": TOKEN, "quiet": True, "wait_for_workers": True}
        async with ropewalk.Cluster(n_workers=2, asynchronous=True, **options) as cluster:
            assert len(cluster.scheduler_info["workers"]) == 2
            async with Client(cluster, asynchronous=True) as client:
                assert await client.submit(sum, [1, 2, 3]) == 6
            await cluster.scale(1)
            assert api.sent("/scale") == [{"workers": 1}]
            # Dask's own clusters are scaled without await.
            cluster.adapt(minimum=1, maximum=3)
            while api.sent("/adapt") == []:
                await asyncio.sleep(0.01)
            assert "Cluster" in await cluster.get_logs(scheduler=False, workers=False)
            assert cluster.dashboard_link == f"{api.url}/clusters/1/dashboard/status"
            assert "/dashboard/?link=" in await cluster.get_dashboard_link()
            assert "/dashboard/?link=" in cluster.dashboard_link
        assert len(api.sent("/stop")) == 1
        other = ropewalk.Cluster(n_workers=1, asynchronous=True, **options)
        assert await other is other
        await other.close()

    asyncio.run(run())
    assert len(api.sent("/stop")) == 2


def test_one_that_is_open_is_used_and_left_open(start: Start, api: StandIn) -> None:
    first = start(name="shared")
    second = start(name="shared", n_workers=5)
    assert first.number == second.number
    second.close()
    assert api.sent("/stop") == []
    third = start(name="shared", shutdown_on_close=True)
    third.close()
    assert len(api.sent("/stop")) == 1


def test_one_that_ends_is_waited_for_and_started_anew(start: Start, api: StandIn) -> None:
    first = start(name="again")
    first.close()
    assert api.views[1]["status"] == "stopping"
    timer = threading.Timer(0.8, lambda: api.views[1].update(status="stopped"))
    timer.start()
    second = start(name="again")
    timer.join()
    assert (second.number, second.shutdown_on_close) == (2, True)


def test_a_lost_answer_does_not_make_it_somebody_elses(start: Start, api: StandIn) -> None:
    api.faults.append(("POST", "/v1/clusters", 0, None, {}))
    cluster = start(name="ours")
    assert cluster.shutdown_on_close is True
    assert len(api.views) == 1
    cluster.close()
    assert len(api.sent("/stop")) == 1


@pytest.mark.parametrize("amount", [True, 2, 0.5, 1.0])
def test_it_waits_for_as_many_workers_as_asked(start: Start, amount: Any) -> None:
    cluster = start(wait_for_workers=amount)
    assert len(cluster.scheduler_info["workers"]) >= (1 if amount == 0.5 else 2)


def test_it_waits_for_none(start: Start, api: StandIn) -> None:
    api.workers_come = False
    assert len(start(wait_for_workers=False).scheduler_info["workers"]) == 0


def test_too_few_in_time_shut_it_down(start: Start, api: StandIn) -> None:
    api.workers_come = False
    with pytest.raises(TimeoutError, match="did not have 1 workers in time: 0 of 2 workers"):
        start(timeout=1, shutdown_on_close=False)
    assert len(api.sent("/stop")) == 1


def test_a_failed_start_tells_the_grouped_reasons(start: Start, api: StandIn) -> None:
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
    with pytest.raises(ropewalk.ClusterFailedError, match="has 3 workers, so that 4 never start"):
        cluster.wait_for_workers(4, timeout=10)


def test_waiting_ends_with_the_cluster(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, wait_for_workers=True)
    api.views[1].update(status="stopped", reason={"code": "IDLE", "text": "nothing was computed for 20 minutes"})
    with pytest.raises(ropewalk.ClusterFailedError, match="Cluster 1 has ended: nothing was computed"):
        cluster.wait_for_workers(2)


def test_the_scheduler_that_is_not_there_in_time(start: Start, api: StandIn) -> None:
    api.looks_before_ready = 10_000
    with pytest.raises(ropewalk.ClusterTimeoutError, match=r"its scheduler in time: scheduler pending \(environment\)"):
        start(timeout=0.3)
    assert len(api.sent("/stop")) == 1


def test_scale_and_adapt(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    cluster.scale(3)
    cluster.wait_for_workers()
    assert len(cluster.scheduler_info["workers"]) == 3
    assert cluster.adapt(minimum=1, maximum=4) is None
    assert "Adaptive" in cluster._scaling_status()
    with pytest.warns(UserWarning, match="interval has no effect"):
        cluster.adapt(minimum=2, maximum=4, interval="1s")
    cluster.scale(1)
    assert api.sent("/adapt") == [{"minimum": 1, "maximum": 4}, {"minimum": 2, "maximum": 4}, {}]
    assert api.sent("/scale") == [{"workers": 3}, {"workers": 1}]
    assert "Manual" in cluster._scaling_status()


def test_keepalives_are_sent_while_it_is_open(
    start: Start, api: StandIn, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(life, "KEEPALIVE_EVERY_S", 0.05)
    cluster = start(n_workers=1)
    assert api.sent("/keepalive") == []
    cluster.set_keepalive("5m")
    eventually(lambda: len(api.sent("/keepalive")) >= 3)
    api.faults.append(("POST", "/keepalive", *problem(500, "INTERNAL", "Broken.")))
    eventually(lambda: "was not kept alive" in caplog.text)
    before = len(api.sent("/keepalive"))
    eventually(lambda: len(api.sent("/keepalive")) > before + 1)
    assert api.sent("/keepalive")[-1] == {"timeout": 300}
    cluster.close()
    after = len(api.sent("/keepalive"))
    time.sleep(0.2)
    assert len(api.sent("/keepalive")) == after


def test_private_variables_never_pass_the_api(start: Start, api: StandIn, caplog: Any) -> None:
    name, value = "ROPEWALK_TEST_PRIVATE", "hush-hush"
    cluster = start(n_workers=1)
    try:
        with caplog.at_level("DEBUG"), cluster.get_client() as client:
            cluster.send_private_envs({name: value})
            assert client.submit(os.getenv, name, pure=False).result() == value
            assert client.run_on_scheduler(os.getenv, name) == value
            del os.environ[name]
            cluster.scale(2)
            cluster.wait_for_workers(2)
            # The new one has set it when it starts: all of them are this process.
            eventually(lambda: os.environ.get(name) == value)
        assert value not in repr(api.requests) and value not in caplog.text
    finally:
        os.environ.pop(name, None)


def test_logs_links_and_reprs(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, name="shown")
    line = {"at": "2026-01-01T00:00:00.000Z", "instance": "i_head0000head", "task": None, "attempt": None}
    api.lines = [{**line, "stream": "stdout", "text": "a <line>"}]
    logs = cluster.get_logs()
    assert logs["Scheduler"] == "a <line>" and "Created cluster 1" in logs["Cluster"]
    assert "a &lt;line&gt;" in logs._repr_html_()
    assert cluster.dashboard_link == f"{api.url}/clusters/1/dashboard/?link=link-1"
    assert cluster.dashboard_link == cluster.dashboard_link and len(api.sent("/dashboard-link")) == 1
    assert repr(cluster).startswith("Cluster(shown, 'tls://127.0.0.1:") and "workers=1" in repr(cluster)
    assert "shown" in cluster._repr_html_() and "/dashboard/?link=link-1" in cluster._repr_html_()
    for text in (repr(cluster), cluster._repr_html_(), repr(vars(cluster)), repr(cluster.security)):
        assert TOKEN not in text and "PRIVATE KEY" not in text
    cluster._link = None
    api.faults.append(("POST", "/dashboard-link", *problem(403, "FORBIDDEN", "Not yours.")))
    assert cluster.dashboard_link == f"{api.url}/clusters/1/dashboard/status"
    cluster.close()
    assert cluster.dashboard_link == ""


def test_other_versions_are_told(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.versions.installed", lambda name: "2020.1.0")
    with pytest.warns(UserWarning, match=r"The cluster runs dask \d+.* \(here 2020\.1\.0\)"):
        start(n_workers=1)


def test_shutdown_ends_it_for_everybody(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, shutdown_on_close=False)
    cluster.shutdown()
    assert len(api.sent("/stop")) == 1
    left = start(n_workers=1, shutdown_on_close=False)
    left.close()
    assert len(api.sent("/stop")) == 1
    left.shutdown()
    assert len(api.sent("/stop")) == 2


def test_an_api_that_is_away_does_not_keep_it_from_closing(start: Start, api: StandIn, caplog: Any) -> None:
    cluster = start(n_workers=1)
    api.faults.append(("POST", "/stop", *problem(500, "INTERNAL", "Broken.")))
    cluster.close()
    assert "was not told to stop, so that its idle timeout ends it" in caplog.text


def test_a_program_that_forgets_it_stops_it_at_its_end(api: StandIn) -> None:
    program = "import ropewalk; cluster = ropewalk.Cluster(n_workers=1); print('made', cluster.number)"
    env = {**os.environ, "ROPEWALK_API_URL": api.url, "ROPEWALK_TOKEN": TOKEN}
    ended = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "made 1\n"), ended.stderr
    assert "Created cluster 1" in ended.stderr and "Traceback" not in ended.stderr
    assert len(api.sent("/stop")) == 1


def test_ctrl_c_while_it_starts_stops_it(api: StandIn) -> None:
    api.looks_before_ready = 10_000
    program = "import ropewalk; ropewalk.Cluster(n_workers=1)"
    env = {**os.environ, "ROPEWALK_API_URL": api.url, "ROPEWALK_TOKEN": TOKEN}
    with subprocess.Popen([sys.executable, "-c", program], env=env, stderr=subprocess.PIPE, text=True) as running:
        try:
            eventually(lambda: api.views and api.views[1]["looks"] > 1, within_s=30)
            running.send_signal(2)
            _, said = running.communicate(timeout=30)
        finally:
            running.kill()
    assert "KeyboardInterrupt" in said and running.returncode != 0
    assert len(api.sent("/stop")) == 1

"""Use of an open cluster object: scaling, keepalives, private variables, logs, links."""

from __future__ import annotations

import os
import time
from typing import Any

import conftest
import pytest
from stand_in import TOKEN, StandIn, problem
from support import Start, eventually

import ropewalk
from ropewalk import keepalives


def test_scale_and_adapt(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    cluster.scale(3)
    cluster.wait_for_workers()
    assert len(cluster.scheduler_info["workers"]) == 3
    first = cluster.adapt(minimum=1, maximum=4)
    assert isinstance(first, ropewalk.AdaptiveScaling)
    assert (first.minimum, first.maximum, first.target_duration, first.wait_count, first.interval) == (1, 4, 180, 24, 5)
    assert first.state == "running" and "Adaptive" in cluster._scaling_status()
    with pytest.warns(UserWarning, match="the class Adaptive has no effect"):
        cluster.adapt(object, minimum=2, maximum=4, interval="1s", target_duration=90, wait_count=3)
    with pytest.raises(TypeError, match="'wait_counts' is not a keyword argument: did you mean 'wait_count'"):
        cluster.adapt(wait_counts=1)
    cluster.scale(1)
    defaults = {"targetDuration": 180, "waitCount": 24, "interval": 5}
    own = {"targetDuration": 90, "waitCount": 3, "interval": 1}
    assert api.sent("/adapt") == [{"minimum": 1, "maximum": 4, **defaults}, {"minimum": 2, "maximum": 4, **own}, {}]
    assert api.sent("/scale") == [{"workers": 3}, {"workers": 1}]
    assert "Manual" in cluster._scaling_status()


def test_adaptive_scaling_is_stopped_once(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    first = cluster.adapt(minimum=1, maximum=4)
    second = cluster.adapt(minimum=1, maximum=5)
    assert (first.state, second.state) == ("stopped", "running")
    first.stop()
    assert len(api.sent("/adapt")) == 2
    second.stop(reason="enough")
    second.stop()
    assert second.state == "stopped" and "Manual" in cluster._scaling_status()
    assert api.sent("/adapt")[2:] == [{}]
    third = cluster.adapt(minimum=1, maximum=6)
    cluster.scale(2)
    assert third.state == "stopped" and "1 to 6 workers, stopped" in repr(third)
    third.stop()
    assert api.sent("/adapt")[3:] == [{"minimum": 1, "maximum": 6, "targetDuration": 180, "waitCount": 24, "interval": 5}, {}]
    last = cluster.adapt(minimum=1, maximum=2)
    cluster.close()
    assert last.state == "stopped"
    last.stop()
    assert len(api.sent("/adapt")) == 6


def test_adaptive_scaling_asks_the_scheduler(start: Start) -> None:
    cluster = start(n_workers=2)
    cluster.wait_for_workers()
    adaptive = cluster.adapt(minimum=1, maximum=4)
    # Nothing is computed.
    assert cluster.sync(adaptive.target) == 0
    assert cluster.sync(adaptive.recommendations, 5) == {"status": "up", "n": 5}
    assert len(cluster.sync(adaptive.workers_to_close, 1)) == 1


def test_a_refused_range_leaves_the_one_before(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    first = cluster.adapt(minimum=1, maximum=4)
    api.faults = [("POST", "/adapt", *problem(409, "QUOTA", "The quota allows 4 workers."))]
    with pytest.raises(ropewalk.RopewalkError, match="The quota allows 4 workers"):
        cluster.adapt(minimum=1, maximum=400)
    assert first.state == "running"


def test_recommendations_and_scale_up(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=2)
    cluster.wait_for_workers()
    addresses = set(cluster.scheduler_info["workers"])
    assert cluster.sync(cluster.recommendations, 2) == {"status": "same"}
    assert cluster.sync(cluster.recommendations, 5) == {"status": "up", "n": 5}
    down = cluster.sync(cluster.recommendations, 1)
    assert down["status"] == "down" and len(down["workers"]) == 1 and set(down["workers"]) < addresses
    assert cluster.sync(cluster.workers_to_close, 2) == []
    cluster.sync(cluster.scale_up, 1)
    assert api.sent("/scale") == []
    cluster.sync(cluster.scale_up, 3)
    cluster.wait_for_workers(3)
    assert api.sent("/scale") == [{"workers": 3}]


@pytest.mark.parametrize(("n_workers", "sent"), [(None, None), ([1, 3], [1, 3]), ((2, 2), [2, 2]), (1, 1)])
def test_a_range_of_workers_is_adaptive_from_the_start(start: Start, api: StandIn, n_workers: Any, sent: Any) -> None:
    cluster = start(n_workers=n_workers)
    assert api.sent("/v1/clusters")[0].get("workers") == sent
    assert ("Adaptive" in cluster._scaling_status()) == (sent != 1)


def test_keepalives_are_sent_while_it_is_open(
    start: Start, api: StandIn, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(keepalives, "KEEPALIVE_EVERY_S", 0.05)
    cluster = start(n_workers=1)
    assert api.sent("/keepalive") == []
    cluster.set_keepalive("5m")
    eventually(lambda: len(api.sent("/keepalive")) >= 3)
    api.faults.append(("POST", "/keepalive", *problem(500, "INTERNAL", "Broken.")))
    eventually(lambda: "a keepalive failed" in caplog.text)
    before = len(api.sent("/keepalive"))
    eventually(lambda: len(api.sent("/keepalive")) > before + 1)
    assert api.sent("/keepalive")[-1] == {"timeout": 300}
    cluster.close()
    after = len(api.sent("/keepalive"))
    time.sleep(0.2)
    assert len(api.sent("/keepalive")) == after


def test_private_variables_are_not_sent_to_the_api(start: Start, api: StandIn, caplog: Any) -> None:
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
            # A new worker sets it at its start: all workers are this process.
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
    address = f"{api.url}/clusters/1/dashboard"
    assert cluster.dashboard_link == address and api.sent("/dashboard-link") == []
    assert cluster.get_dashboard_link() == f"{address}/?link=link-1"
    assert repr(cluster).startswith("Cluster(shown, 'tls://127.0.0.1:") and "workers=1" in repr(cluster)
    assert "shown" in cluster._repr_html_() and address in cluster._repr_html_() and "?link=" not in cluster._repr_html_()
    for text in (repr(cluster), cluster._repr_html_(), repr(vars(cluster)), repr(cluster.security)):
        assert TOKEN not in text and "PRIVATE KEY" not in text
    cluster.close()
    assert cluster.dashboard_link == ""
    assert repr(cluster) == "<Cluster shown: closed>"


def test_jupyter_is_asked_for_and_opened_by_a_link(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, jupyter=True, requirements=["jupyterlab"], wait_for_workers=False)
    assert api.sent("/v1/clusters")[0]["jupyter"] is True
    assert cluster.jupyter_link == f"{api.url}/clusters/1/jupyter/?link=one"
    start(n_workers=1, wait_for_workers=False)
    assert "jupyter" not in api.sent("/v1/clusters")[1]


def test_package_sync_without_jupyter_is_refused_before_a_cluster_is_started(
    start: Start, api: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="jupyter=True needs jupyterlab"):
        start(jupyter=True)
    assert api.requests == []


def test_logs_of_an_ended_cluster_distinguish_scheduler_and_workers(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, name="over")
    ids = ["i_head0000head", "i_0000worker-1"]
    api.lines = [{"at": "", "instance": one, "stream": "stdout", "text": one} for one in ids]
    # An ended cluster, for example an idle one, has no instances.
    api.views[1].update(status="stopped", instances=[])
    assert cluster.get_logs(cluster=False) == {"Scheduler": "i_head0000head", "over-worker-worker-1": "i_0000worker-1"}
    assert cluster.get_logs(False, ["over-worker-worker-1"], cluster=False) == {"over-worker-worker-1": "i_0000worker-1"}
    assert list(cluster.get_logs(True, False)) == ["Cluster", "Scheduler"]
    with pytest.raises(ValueError, match=r"workers: there is no nope; .* over-worker-worker-1$"):
        cluster.get_logs(workers=["nope", "over-worker-worker-1"])
    assert cluster.get_logs(filter="worker", since="10m", merged=True) == " over-worker-worker-1 i_0000worker-1"
    assert "/logs?since=20" in api.requests[-2][1]
    with pytest.raises(ValueError, match="since is 'soon'"):
        cluster.get_logs(since="soon")


def test_other_versions_are_reported(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.versions.installed", lambda name: "2020.1.0")
    with pytest.warns(UserWarning, match=r"The cluster runs dask \d+.* \(here 2020\.1\.0\)"):
        start(n_workers=1)


@pytest.mark.parametrize("ending", ["close", "shutdown"])
def test_clients_do_not_reconnect_to_a_scheduler_that_ends_before_the_api_answers(
    start: Start, api: StandIn, ending: str
) -> None:
    cluster = start(n_workers=1)
    client = cluster.get_client()
    connection = api.dask.scheduler.client_comms[client.id]
    states: list[str] = []

    def lose_scheduler() -> None:
        api.dask.loop.add_callback(connection.abort)
        eventually(lambda: client.status == "closed" or connection is not api.dask.scheduler.client_comms.get(client.id))
        time.sleep(0.5)
        states.append(client.status)

    api.before_stopping = lose_scheduler
    getattr(cluster, ending)()
    assert states == ["closed"]
    client.close()


def test_a_refused_shutdown_leaves_the_cluster_open(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    api.faults.append(("POST", "/stop", *problem(403, "FORBIDDEN", "Not yours.")))
    with pytest.raises(ropewalk.RopewalkError, match="Not yours"):
        cluster.shutdown()
    assert cluster.status.name == "running"
    cluster.scale(2)
    cluster.wait_for_workers(2)


def test_why_is_answered_while_it_is_open_and_afterwards(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    why = cluster.why()
    assert (why["number"], why["sentences"][0]["text"]) == (cluster.number, f"The cluster is {why['status']}.")
    cluster.close()
    assert cluster.why()["sentences"][0]["text"].startswith("The cluster is stop")


def test_plan_and_requested_have_the_meaning_of_dask(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=3, name="p", wait_for_workers=False)
    one = {"role": "worker", "process": None}
    api.views[1]["instances"] += [{"id": "i_0000000000aa", "state": "started", **one}, {"id": "i_0000000000bb", "state": "stopping", **one}]
    assert cluster.requested == {"p-worker-000000aa"}
    assert cluster.plan == {"p-worker-000000aa", "p-worker-to-launch-1", "p-worker-to-launch-2"}
    api.views[1]["dask"]["workersWanted"] = 0
    assert cluster.plan == set()


def test_adapt_by_cores_is_refused_with_the_reason(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, wait_for_workers=False)
    with pytest.raises(TypeError, match="minimum_cores: adaptive scaling counts workers"):
        cluster.adapt(minimum_cores=4)


def test_a_warning_names_the_line_of_the_program(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.versions.installed", lambda name: "2020.1.0")
    with pytest.warns(UserWarning, match="The cluster runs") as caught:
        start(n_workers=1, wait_for_workers=False, requirements=["dask"])
    assert [one.filename for one in caught if "The cluster runs" in str(one.message)] == [conftest.__file__]

"""Start and end of the cluster object, with a stand-in for the API and a real Dask scheduler with TLS."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from distributed import Client
from distributed.deploy import Cluster as DaskCluster
from stand_in import TOKEN, StandIn, problem
from support import Start

import ropewalk
from ropewalk.other_arguments import REFUSED


def test_it_computes_and_is_stopped_with_its_object(api: StandIn) -> None:
    with ropewalk.Cluster("first", n_workers=2, api_url=api.url, token=TOKEN, quiet=True) as cluster:
        assert isinstance(cluster, DaskCluster)
        client = cluster.get_client()
        assert client.submit(sum, [1, 2, 3]).result() == 6
        assert cluster.get_client() is client
        assert api.sent("/v1/clusters")[0]["name"] == "first"
        assert api.sent("/stop") == []
        client.close()
    assert len(api.sent("/stop")) == 1
    assert cluster.status.name == "closed"
    cluster.close()
    assert len(api.sent("/stop")) == 1


def test_the_first_positional_argument_is_the_name_as_in_coiled() -> None:
    wrong: Any = 4
    with pytest.raises(TypeError, match="name is 4: give text, or n_workers=4"):
        ropewalk.Cluster(wrong)


def test_misspelled_arguments_are_named_together_with_what_they_resemble() -> None:
    wrong: Any = {"n_worker": 4, "idle_timout": "1 hour", "qqq": 1}
    with pytest.raises(TypeError) as caught:
        ropewalk.Cluster(**wrong)
    assert str(caught.value) == (
        "'n_worker' is not a keyword argument: did you mean 'n_workers'?; "
        "'idle_timout' is not a keyword argument: did you mean 'idle_timeout'?; 'qqq' is not a keyword argument"
    )


def test_arguments_without_a_counterpart_are_refused_together_with_the_reasons(start: Start, api: StandIn) -> None:
    neutral: Any = {"cloud": None, "use_dashboard_https": True, "credentials": None, "jupyter": False}
    start(n_workers=1, wait_for_workers=False, **neutral)
    before = len(api.requests)
    refused: Any = {**dict.fromkeys(REFUSED, "x"), "use_dashboard_https": False}
    with pytest.raises(ValueError) as caught:
        start(**refused)
    for name in refused:
        assert f"{name}=" in str(caught.value)
    assert "signed-in users" in str(caught.value)
    assert len(api.requests) == before


def test_the_widget_can_be_declined(start: Start, capsys: Any) -> None:
    cluster = start(n_workers=1, name="plain", wait_for_workers=False, show_widget=False)
    cluster._ipython_display_()
    assert capsys.readouterr().out.startswith("Cluster(plain,")


def test_arguments_are_sent_as_given(start: Start, api: StandIn) -> None:
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
        usage=["memory"],
        watchdog_timeout="1 hour",
        unresponsive_timeout=1800,
        extra_worker_on_scheduler=True,
        _n_worker_specs_per_host=2,
    )
    assert api.sent("/v1/clusters") == [
        {
            "name": "all",
            "getOrCreate": False,
            "workers": 1,
            "software": {"requirements": ["pandas==2.3.1", "dask==2026.8.0"]},
            "env": {"A": "b"},
            "workersPerInstance": 2,
            "extraWorkerOnScheduler": True,
            "workerClass": "distributed.Nanny",
            "workerOptions": {"nthreads": 2},
            "schedulerOptions": {"validate": True},
            "idleTimeout": 1800,
            "noClientTimeout": 300,
            "privateToCreator": True,
            "usage": ["memory"],
            "watchdogTimeout": 3600,
        "unresponsiveTimeout": 1800,
        }
    ]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"idle_timeout": "soon"}, "idle_timeout is 'soon'"),
        ({"keepalive": 0}, "keepalive is 0"),
        ({"timeout": -1}, "timeout is -1"),
        ({"watchdog_timeout": "never"}, "watchdog_timeout is 'never'"),
        ({"wait_for_workers": 1.5}, "whole number"),
        ({"usage": ["profiles"]}, "usage is .*give a list of groups, exceptions, memory"),
        ({"usage": "memory"}, "usage is 'memory'"),
        ({"_n_worker_specs_per_host": 0}, "_n_worker_specs_per_host is 0"),
    ],
)
def test_invalid_arguments_are_refused_before_a_cluster_is_started(start: Start, api: StandIn, options: Any, text: str) -> None:
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
            adaptive = cluster.adapt(minimum=1, maximum=3)
            assert adaptive.state == "starting"
            # Stopped before its request was answered: the requests are sent in this order.
            await adaptive.stop()
            assert [sent.get("maximum") for sent in api.sent("/adapt")] == [3, None]
            await adaptive.stop()
            again = cluster.adapt(minimum=1, maximum=5)
            assert await again is again and again.state == "running"
            assert [sent.get("maximum") for sent in api.sent("/adapt")] == [3, None, 5]
            assert "Cluster" in await cluster.get_logs(scheduler=False, workers=False)
            assert cluster.dashboard_link == f"{api.url}/clusters/1/dashboard"
            assert "/dashboard/?link=" in await cluster.get_dashboard_link()
        assert len(api.sent("/stop")) == 1
        other = ropewalk.Cluster(n_workers=1, asynchronous=True, **options)
        assert await other is other
        await other.close()

    asyncio.run(run())
    assert len(api.sent("/stop")) == 2


def test_an_open_cluster_is_used_and_left_open(start: Start, api: StandIn) -> None:
    first = start(name="shared")
    second = start(name="shared", n_workers=5)
    assert first.number == second.number
    second.close()
    assert api.sent("/stop") == []
    third = start(name="shared", shutdown_on_close=True)
    third.close()
    assert len(api.sent("/stop")) == 1


def test_an_ending_cluster_is_awaited_and_replaced(start: Start, api: StandIn) -> None:
    first = start(name="again")
    first.close()
    assert api.views[1]["status"] == "stopping"
    timer = threading.Timer(0.8, lambda: api.views[1].update(status="stopped"))
    timer.start()
    second = start(name="again")
    timer.join()
    assert (second.number, second.shutdown_on_close) == (2, True)


def test_a_cluster_whose_answer_was_lost_is_the_callers_own(start: Start, api: StandIn) -> None:
    api.faults.append(("POST", "/v1/clusters", 0, None, {}))
    cluster = start(name="ours")
    assert cluster.shutdown_on_close is True
    assert len(api.views) == 1
    cluster.close()
    assert len(api.sent("/stop")) == 1


def test_shutdown_ends_a_cluster_that_existed_before(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, shutdown_on_close=False)
    cluster.shutdown()
    assert len(api.sent("/stop")) == 1
    left = start(n_workers=1, shutdown_on_close=False)
    left.close()
    assert len(api.sent("/stop")) == 1
    left.shutdown()
    assert len(api.sent("/stop")) == 2


def test_a_failed_shutdown_of_a_closed_cluster_raises_the_reason(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, shutdown_on_close=False)
    cluster.close()
    api.faults.append(("POST", "/stop", *problem(403, "FORBIDDEN", "Not yours.")))
    with pytest.raises(ropewalk.RopewalkError, match="Not yours"):
        cluster.shutdown()
    api.server.shutdown()
    api.server.server_close()
    with pytest.raises(ropewalk.RopewalkError, match="does not answer"):
        cluster.shutdown()


def test_it_closes_while_the_api_is_unavailable(start: Start, api: StandIn, caplog: Any) -> None:
    cluster = start(n_workers=1)
    api.faults.append(("POST", "/stop", *problem(500, "INTERNAL", "Broken.")))
    cluster.close()
    assert "was not stopped; its idle timeout ends it" in caplog.text

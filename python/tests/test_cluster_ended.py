"""The object follows its cluster: the user's view after the server has ended it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from distributed import Client, LocalCluster, Security
from stand_in import StandIn
from support import Start, eventually

import ropewalk

REASON = {"code": "IDLE", "text": "nothing was computed for 20 minutes", "at": "2026-01-01T13:02:00.000Z"}
MESSAGE = r"^cluster 1 ended at \d\d:02: nothing was computed for 20 minutes$"


@pytest.fixture
def api() -> Iterator[StandIn]:
    """With a Dask cluster of its own, which can be ended."""
    security = Security.temporary()
    options: Any = {"n_workers": 0, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(host="127.0.0.1", protocol="tls://", security=security, **options) as dask:
        stand_in = StandIn(dask, security)
        yield stand_in
        stand_in.close()


def end(api: StandIn, change: Callable[[dict[str, Any]], Any]) -> None:
    change(api.views[1])
    api.dask.close()




def test_pending_results_raise_the_reason_when_the_server_has_ended_the_cluster(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    client = cluster.get_client()
    other = Client(cluster)
    pending = client.submit(time.sleep, 1.5, pure=False)
    others = other.submit(time.sleep, 1.6, pure=False)
    began = time.monotonic()
    end(api, lambda view: view.update(status="stopping", reason=REASON))
    for future in (pending, others):
        with pytest.raises(ropewalk.ClusterEndedError, match=MESSAGE):
            future.result()
    with pytest.raises(ropewalk.ClusterEndedError, match=MESSAGE):
        client.gather([pending])
    eventually(lambda: cluster.status.name == "closed" and client.status == "closed")
    assert time.monotonic() - began < 15
    assert re.search("ended at .*nothing was computed", cluster._repr_html_())
    with pytest.raises(Exception, match="Client is closed: cluster 1 ended at .*nothing was computed"):
        client.submit(sum, [1])
    with pytest.raises(ropewalk.ClusterEndedError, match=MESSAGE):
        cluster.scale(3)
    assert api.sent("/stop") == []


def test_an_object_without_a_client_closes_too(start: Start, api: StandIn, capsys: Any) -> None:
    cluster = start(n_workers=1, quiet=False)
    end(api, lambda view: view.update(status="stopped", reason=None, endedAt="2026-01-01T13:02:00.000Z"))
    eventually(lambda: cluster.status.name == "closed")
    assert re.search(r"Cluster 1 ended at \d\d:02\n", capsys.readouterr().err)


def test_a_lost_connection_to_a_scheduler_that_runs_ends_nothing(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1)
    client = cluster.get_client()
    old, watched = client.scheduler_comm, cluster._watch_worker_status_comm
    api.dask.loop.add_callback(api.dask.scheduler.client_comms[client.id].abort)
    api.dask.loop.add_callback(watched.abort)
    eventually(lambda: client.status == "running" and client.scheduler_comm not in (None, old))
    assert client.submit(sum, [1, 2]).result() == 3
    eventually(lambda: cluster._watch_worker_status_comm is not watched)
    cluster.scale(2)
    eventually(lambda: len(cluster.scheduler_info["workers"]) == 2)
    assert cluster.status.name == "running"

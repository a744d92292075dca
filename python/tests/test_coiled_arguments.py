"""The further arguments and methods of Cluster that programs written for today's Coiled client use."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from stand_in import StandIn
from support import Start

import ropewalk
from ropewalk.other_arguments import thread_variables


def test_other_names_of_the_same_are_sent_as_ours(start: Start, api: StandIn) -> None:
    names: Any = {"cluster_timeout": "2 hours", "no_client_timeout": "5m", "capacity_retry_timeout": "1h"}
    start(**names, open_extra_ports=[9000], allow_ingress_from="10.0.0.0/8", open_ports={9001: "everyone"})
    sent = api.sent("/v1/clusters")[0]
    assert (sent["maxLifetime"], sent["noClientTimeout"], sent["waitForCapacity"]) == (7200, 300, 3600)
    assert sent["openPorts"] == {"9000": "10.0.0.0/8", "9001": "everyone"}


def test_ours_and_theirs_may_not_differ(start: Start, api: StandIn) -> None:
    with pytest.raises(ValueError, match="keepalive is '1m', and no_client_timeout is '5m'"):
        start(keepalive="1m", no_client_timeout="5m")
    with pytest.raises(ValueError, match=r"open_extra_ports=\[9000\] does not say who may reach them"):
        start(open_extra_ports=[9000])
    assert api.sent("/v1/clusters") == []


def test_values_that_change_nothing_are_accepted(start: Start, api: StandIn) -> None:
    start(package_sync_use_uv_installer=True, allow_spark=False, pause_on_exit=False, mount_bucket=None, capacity_retry_timeout=0)
    assert "waitForCapacity" not in api.sent("/v1/clusters")[0]


def test_threads_of_libraries_are_not_limited_on_request(start: Start, api: StandIn) -> None:
    start(unset_single_threading_variables=True, environ={"A": "1"})
    assert api.sent("/v1/clusters")[0]["env"] == {
        "A": "1",
        "DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON": "{'OMP_NUM_THREADS': None, 'MKL_NUM_THREADS': None, 'OPENBLAS_NUM_THREADS': None}",
    }
    own = {"DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON": "{}"}
    assert thread_variables({"unset_single_threading_variables": True}, own) == {}


def test_everything_that_is_wrong_is_one_error(start: Start, api: StandIn) -> None:
    with pytest.raises(ValueError) as raised:
        start(
            n_workers=-1,
            mount_bucket="s3://data",
            worker_sidecars=[{}],
            idle_timeout="soon",
            worker_cpu="many",
            scheduler_port=1,
            spot_policy="cheap",
        )
    text = str(raised.value)
    for name in ("n_workers is -1", "mount_bucket=", "worker_sidecars=", "idle_timeout", "worker_cpu is", "scheduler_port is 1", "spot_policy is"):
        assert text.count(name) == 1, text
    assert api.requests == []


def test_arguments_of_methods(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, shutdown_on_close=False)
    assert cluster.cluster_id == cluster.number and cluster.details_url == f"{api.url}/clusters/{cluster.number}"
    with pytest.raises(TypeError, match="cores and memory: a cluster is scaled by its number of workers"):
        cluster.scale(cores=4, memory="1 GiB")
    with pytest.raises(ValueError, match="force_stop=False has no effect"):
        cluster.scale(2, force_stop=False)
    cluster.scale(2, force_stop=True)
    cluster.send_private_envs({"ROPEWALK_TEST_UNSET": "1"}, raise_on_error=True)
    with cluster.get_client() as client:
        cluster.wait_for_workers(2)
        assert client.run_on_scheduler(os.getenv, "ROPEWALK_TEST_UNSET") == "1"
        cluster.unset_env_vars(["ROPEWALK_TEST_UNSET"])
        assert client.run_on_scheduler(os.getenv, "ROPEWALK_TEST_UNSET") is None
    cluster.close(force_shutdown=True, reason="done")
    assert len(api.sent("/stop")) == 1
    assert "Closing: done" in [text for _, text in cluster._cluster_manager_logs]


def test_details_are_those_of_the_api_while_it_is_open_and_afterwards(start: Start) -> None:
    cluster = start(n_workers=1)
    details = cluster.details()
    assert (details["number"], details["status"]) == (cluster.number, "ready")
    cluster.close()
    assert cluster.details()["status"] == "stopping"


def test_what_a_cluster_cannot_do_says_why_and_what_to_do_instead(start: Start) -> None:
    cluster = start(n_workers=0)
    with pytest.raises(NotImplementedError, match=r"mount_bucket\('s3://data'\): .* needs FUSE and root .*: read and write objects by their paths"):
        cluster.mount_bucket("s3://data")
    with pytest.raises(NotImplementedError, match=r"get_spark\(\): clusters run Dask alone: dask\.dataframe"):
        cluster.get_spark(block_till_ready=True)


def test_a_request_to_scale_counts_before_it_is_answered(start: Start) -> None:
    async def run() -> None:
        async with start(n_workers=1, asynchronous=True, wait_for_workers=True) as cluster:
            # As in distributed's own tests, without await.
            cluster.scale(3)
            assert "1 / 3" in cluster._scaling_status()
            await cluster.wait_for_workers(3)
            assert len(cluster.scheduler_info["workers"]) == 3

    asyncio.run(run())


def test_logs_of_a_worker_by_its_address_in_dask(start: Start, api: StandIn) -> None:
    cluster = start(n_workers=1, wait_for_workers=True)
    [(address, worker)] = cluster.scheduler_info["workers"].items()
    # As an agent names its worker, by its instance.
    worker["name"] = f"{cluster.name}-worker-001"
    api.lines = [{"at": "2026-11-23T10:00:00Z", "instance": f"i-00{n}", "stream": "stderr", "text": f"line {n}"} for n in (1, 2)]
    assert cluster.get_logs(cluster=False, scheduler=False, workers=[address]) == {worker["name"]: "line 1"}
    with pytest.raises(ValueError, match="there is no tls://10.0.0.1:1"):
        cluster.get_logs(workers=["tls://10.0.0.1:1"])


def test_coroutines_are_awaited_in_a_loop_of_the_program(start: Start) -> None:
    """A notebook's cells run in another event loop than the cluster's."""
    cluster = start(n_workers=2, wait_for_workers=True)

    async def cell() -> list[Any]:
        return [await cluster.recommendations(1), await cluster.workers_to_close(0), await cluster.scale_up(1)]

    recommended, closing, _ = asyncio.run(asyncio.wait_for(cell(), 30))
    assert recommended["status"] == "down" and len(closing) == 2
    cluster.close()
    with pytest.raises(ropewalk.RopewalkError, match="closed"):
        asyncio.run(asyncio.wait_for(cell(), 30))

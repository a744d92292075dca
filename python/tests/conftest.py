from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import dask
import pytest
from distributed import LocalCluster, Security
from distributed.core import Status
from jupyter_stand_in import Here, JupyterStandIn
from stand_in import TOKEN, StandIn
from stand_in_jobs import JobsStandIn

import ropewalk


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """The environment of the test run must not affect the tests."""
    aws = [name for name in os.environ if name.startswith("AWS_")]
    for name in ("ROPEWALK_API_URL", "ROPEWALK_TOKEN", *aws):
        monkeypatch.delenv(name, raising=False)
    # Clusters search for AWS credentials: here there are none, and no metadata service is called.
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("ROPEWALK_HOME", str(tmp_path / "no-home"))
    with dask.config.set({"ropewalk": {}, "coiled": {}}):
        yield


@pytest.fixture(scope="session")
def dask_with_tls() -> Iterator[tuple[LocalCluster, Security]]:
    security = Security.temporary()
    options = {"n_workers": 0, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(host="127.0.0.1", protocol="tls://", security=security, **options) as dask:
        yield dask, security
        # A worker that is removed before it started never closes, and Dask's close asserts that each has
        # closed.
        for worker in [each for each in list(dask._created) if each.status is Status.init]:
            dask._created.discard(worker)


@pytest.fixture
def api(dask_with_tls: tuple[LocalCluster, Security]) -> Iterator[StandIn]:
    stand_in = StandIn(*dask_with_tls)
    yield stand_in
    stand_in.close()
    dask = stand_in.dask
    # A worker that is removed while it starts fails the end of the Dask cluster.
    wait_while(lambda: any(worker.status is Status.init for worker in list(dask.workers.values())))
    dask.scale(0)
    wait_while(lambda: len(dask.scheduler.workers) > 0)


def wait_while(condition: Callable[[], bool]) -> None:
    """At most 10 seconds."""
    deadline = time.monotonic() + 10
    while condition() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture
def start(api: StandIn) -> Iterator[Callable[..., ropewalk.Cluster]]:
    """Creates clusters of the stand-in, and closes them."""
    made: list[ropewalk.Cluster] = []

    def make(**options: Any) -> ropewalk.Cluster:
        cluster = ropewalk.Cluster(**{"n_workers": 2, "api_url": api.url, "token": TOKEN, "quiet": True, **options})
        made.append(cluster)
        return cluster

    yield make
    for cluster in made:
        cluster.close()


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[JobsStandIn]:
    """A stand-in for the API's job routes, set in the environment."""
    stand_in = JobsStandIn()
    monkeypatch.setenv("ROPEWALK_API_URL", stand_in.url)
    monkeypatch.setenv("ROPEWALK_TOKEN", TOKEN)
    yield stand_in
    stand_in.close()


@pytest.fixture
def jupyter() -> Iterator[JupyterStandIn]:
    stand_in = JupyterStandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture
def here(jupyter: JupyterStandIn, tmp_path: Path) -> Here:
    return Here(jupyter, tmp_path / "work", tmp_path / "state" / "one.json")


@pytest.fixture(scope="session")
def stack() -> dict[str, Any]:
    """A running Ropewalk: started by test/python/stack.full.test.ts."""
    url, token = os.environ.get("ROPEWALK_TEST_API_URL"), os.environ.get("ROPEWALK_TEST_TOKEN")
    if not url or not token:
        pytest.skip("ROPEWALK_TEST_API_URL and ROPEWALK_TEST_TOKEN name no running Ropewalk")
    return {"api_url": url, "token": token}

"""The clusters of `@ropewalk.function` that this process uses, by name. The first call starts a cluster; one that
has ended is started again."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dask.system import CPU_COUNT
from distributed import Client, LocalCluster
from distributed.core import Status

from ropewalk.cluster import Cluster
from ropewalk.durations import Duration
from ropewalk.machines import CLUSTER_MACHINES
from ropewalk.plans import plan_cluster

#: As in Coiled: each machine has two vCPUs, and the number of machines follows the number of waiting calls.
_DEFAULT_CPU = 2
_DEFAULT_RANGE = (0, 500)


@dataclass(frozen=True)
class FunctionSettings:
    """The settings from the decorator's arguments. Frozen and picklable, because tasks may call functions."""

    #: Arguments of `Cluster`, without None.
    cluster: Mapping[str, Any]
    n_workers: int | Sequence[int] | None
    keepalive: Duration
    shutdown_on_close: bool
    #: The values are secrets: neither a name nor a request to the API contains them.
    environ: Mapping[str, str] = field(repr=False)
    local: bool


@dataclass(frozen=True)
class Running:
    cluster: Cluster | LocalCluster
    client: Client


_running: dict[str, Running] = {}
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


def running(name: str, settings: FunctionSettings) -> Running:
    """The cluster of this name and a client of it. Blocks while the cluster starts; other threads wait for the same start."""
    key = f"{name} (local)" if settings.local else name
    with _locks[key]:
        found = _running.get(key)
        if found is None or not _is_usable(found):
            start: Callable[[], Cluster | LocalCluster] = lambda: _local(settings) if settings.local else _remote(name, settings)
            cluster = start()
            found = Running(cluster, Client(cluster, set_as_default=False))
            _running[key] = found
        return found


def _is_usable(found: Running) -> bool:
    return found.cluster.status == Status.running and found.client.status not in ("closing", "closed")


def _remote(name: str, settings: FunctionSettings) -> Cluster:
    given = settings.cluster
    plan = plan_cluster(0, **{key: value for key, value in given.items() if key in {*CLUSTER_MACHINES, "api_url", "token"}})
    # Without a choice of disks, instances are processes of one machine, where cores and markets have no meaning.
    shares_machine = plan["diskGib"] is None
    defaults = {} if shares_machine else _machine_defaults(given)
    n_workers = settings.n_workers
    if n_workers is None:
        first, last = _DEFAULT_RANGE
        n_workers = [first, max(1, plan["head"]["types"][0]["vcpus"]) if shares_machine else last]
    # The server counts the keepalive from the last client, so the next run of the program finds the cluster.
    keepalive = settings.keepalive if settings.shutdown_on_close else None
    cluster = Cluster(name, n_workers=n_workers, shutdown_on_close=False, keepalive=keepalive, **{**defaults, **given})
    if settings.environ:
        cluster.send_private_envs(dict(settings.environ))
    return cluster


def _machine_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    chosen = ("cpu", "memory", "vm_types", "gpu")
    has_machine = any(f"worker_{name}" in given for name in chosen)
    machine = {} if has_machine else {f"{role}_cpu": _DEFAULT_CPU for role in ("scheduler", "worker")}
    return {**machine, "spot_policy": "spot_with_fallback"}


def _local(settings: FunctionSettings) -> LocalCluster:
    os.environ.update(settings.environ)
    return LocalCluster(processes=False, n_workers=1, threads_per_worker=CPU_COUNT, dashboard_address=None)

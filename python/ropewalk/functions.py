"""`@ropewalk.function`: a function whose calls run on a cluster. Functions with the same arguments share one cluster."""

from __future__ import annotations

import functools
import getpass
import hashlib
import json
import platform
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

from distributed import Client, Future, LocalCluster, get_worker

from ropewalk.amounts import worker_count
from ropewalk.cluster import Cluster
from ropewalk.durations import Duration
from ropewalk.function_clusters import FunctionSettings, running
from ropewalk.machines import Cpu, Memory, SpotPolicy
from ropewalk.private_envs import check_envs

P = ParamSpec("P")
R = TypeVar("R")

#: `map` fetches results in this many parts: the first ones arrive before the last call has ended.
_PARTS = 50


class Function(Generic[P, R]):
    """A function that `function` has decorated. A call runs on the cluster and returns the result; in a task of that cluster it runs
    in the task. Functions can be sent to tasks with cloudpickle, also to a cluster without this package."""

    __name__: str

    def __init__(self, function: Callable[P, R], settings: FunctionSettings, name: str) -> None:
        functools.update_wrapper(cast("Callable[..., Any]", self), function)
        self._function, self._settings = function, settings
        #: Name of the cluster.
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial, (self._in_tasks(),)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            get_worker()
        except ValueError:
            return self.client.submit(self._function, *args, pure=False, **kwargs).result()
        # A task calls a function of a module that the cluster has imported.
        return self._in_tasks()(*args, **kwargs)

    def submit(self, *args: Any, **kwargs: Any) -> Future[R]:
        """Starts a call and returns its future at once. `retries=`, `priority=`, `key=` and other keyword arguments of Dask's
        `Client.submit` are not passed to the function. Equal calls run each, unless with `pure=True`."""
        return self.client.submit(self._function, *args, **{"pure": False, **kwargs})

    def map(self, *iterables: Any, errors: Literal["raise", "skip"] = "raise", **kwargs: Any) -> Iterator[R]:
        """Starts a call for each element at once, and returns an iterator of the results in order. The cluster
        grows with the calls that wait. `errors="skip"` omits the results of failed calls. Keyword arguments as
        for `submit`.

        Examples
        --------
        >>> list(process.map(["s3://bucket/a.csv", "s3://bucket/b.csv"]))
        """
        if errors not in ("raise", "skip"):
            raise ValueError(f'errors is {errors!r}: give "raise" or "skip"')
        futures = self.client.map(self._function, *iterables, **{"pure": False, **kwargs})
        return _results(self.client, futures, errors)

    def _in_tasks(self) -> Callable[P, R]:
        return _for_tasks(self._function, self.__name__, None if self._settings.local else self.name)

    @property
    def local(self) -> Function[P, R]:
        """The same function in threads of this process, without a cluster, for testing and debugging."""
        return Function(self._function, replace(self._settings, local=True), self.name)

    @property
    def cluster(self) -> Cluster | LocalCluster:
        """The cluster; started unless it is open. `f.cluster.shutdown()` ends it at once."""
        return running(self.name, self._settings).cluster

    @property
    def client(self) -> Client:
        """A client of the cluster, which is not Dask's default client."""
        return running(self.name, self._settings).client


def function(
    function: Callable[P, R] | None = None,
    /,
    *,
    software: str | None = None,
    container: str | None = None,
    vm_type: str | Sequence[str] | None = None,
    cpu: Cpu | None = None,
    memory: Memory | None = None,
    gpu: bool | None = None,
    account: str | None = None,
    workspace: str | None = None,
    region: str | None = None,
    arm: bool | None = None,
    disk_size: int | str | None = None,
    allow_ingress_from: str | None = None,
    shutdown_on_close: bool = True,
    spot_policy: SpotPolicy | None = None,
    idle_timeout: Duration = "6 hours",
    keepalive: Duration = "30 seconds",
    package_sync_ignore: Collection[str] | None = None,
    environ: Mapping[str, str] | None = None,
    threads_per_worker: int | None = 1,
    local: bool = False,
    name: str | None = None,
    tags: Mapping[str, str] | None = None,
    n_workers: int | Sequence[int] | None = None,
    extra_kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Decorates a function: its calls run on a cluster. The first call starts the cluster; later calls, functions with the same
    arguments, and the next run of the program within `keepalive` use it.

    Parameters
    ----------
    software, container, package_sync_ignore: as for `Cluster`; by default the cluster gets the packages of this process.
    vm_type, cpu, memory, gpu, arm, disk_size, region, tags, allow_ingress_from: the machines, as for `Cluster`; with two vCPUs by
        default.
    workspace: an error when the token is of another workspace; account is its old name.
    spot_policy: for all machines but the first; "spot_with_fallback" by default.
    n_workers: machines besides the first: a number, or a range in which it follows the waiting calls. [0, 500] by default; at most
        the number of cores where instances share a machine.
    threads_per_worker: calls at a time on each machine; -1 is one for each vCPU.
    keepalive: the server ends the cluster this long after its last client.
    shutdown_on_close: False ends the cluster after `idle_timeout` only.
    idle_timeout: the server ends the cluster after this long without a call.
    environ: environment variables, sent directly to the cluster, never to the API.
    local: calls run in threads of this process, which gets `environ`.
    name: name of the cluster, for functions with different arguments that share one. By default it follows from the arguments, the
        user, this machine and its Python.
    extra_kwargs: further arguments of `Cluster`, which win.

    Examples
    --------
    >>> @ropewalk.function(memory="16 GiB", region="us-west-2")
    ... def count(name):
    ...     return len(name)
    >>> count("amber-bay")                           # waits for the result
    >>> future = count.submit("birch-hollow")        # a future of Dask
    >>> lengths = list(count.map(["cedar", "dune"])) # in parallel
    """
    machine = {"cpu": cpu, "memory": memory, "gpu": gpu, "disk_size": disk_size}
    types = [vm_type] if isinstance(vm_type, str) else vm_type
    options: dict[str, Any] = {
        **{f"{role}_{key}": value for role in ("scheduler", "worker") for key, value in {**machine, "vm_types": types}.items()},
        **{"software": software, "container": container, "package_sync_ignore": package_sync_ignore},
        **{"account": account, "workspace": workspace, "region": region, "arm": arm, "tags": tags},
        **{"allow_ingress_from": allow_ingress_from, "spot_policy": spot_policy, "idle_timeout": idle_timeout},
        "worker_options": None if threads_per_worker in (None, -1) else {"nthreads": threads_per_worker},
        # The first machine is scheduler and worker: one call needs no second machine.
        "extra_worker_on_scheduler": True,
        **(extra_kwargs or {}),
    }
    given = {key: value for key, value in options.items() if value is not None}
    settings = FunctionSettings(given, worker_count(n_workers), keepalive, shutdown_on_close, check_envs(environ or {}), local)
    cluster_name = name or _name_of(settings)
    if function is not None:
        return Function(function, settings, cluster_name)
    return lambda decorated: Function(decorated, settings, cluster_name)


def _for_tasks(function: Callable[..., Any], name: str, cluster: str | None) -> Callable[..., Any]:
    """The function as tasks call it: it runs in the task, if that is one of its own cluster. A nested function, which cloudpickle sends
    by value. `cluster`: None for any."""

    def call(*args: Any, **kwargs: Any) -> Any:
        from distributed import get_worker

        # Names of workers begin with the name of their cluster.
        if cluster is not None and not str(get_worker().name).startswith(f"{cluster}-"):
            raise RuntimeError(
                f"{name} runs on a cluster of its own, {cluster}, and a task cannot start one: "
                "decorate both functions with the same arguments or the same name, or call this one outside of tasks"
            )
        return function(*args, **kwargs)

    return call


def _name_of(settings: FunctionSettings) -> str:
    """Separates the clusters of colleagues who use the same arguments."""
    owner = [getpass.getuser(), platform.node(), sys.executable]
    lifetime = [str(settings.keepalive), settings.shutdown_on_close]
    text = json.dumps([owner, dict(settings.cluster), settings.n_workers, lifetime, sorted(settings.environ)], sort_keys=True, default=str)
    return f"function-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def _results(client: Client, futures: Sequence[Future[Any]], errors: str) -> Iterator[Any]:
    size = max(len(futures) // _PARTS, 1)
    for start in range(0, len(futures), size):
        yield from client.gather(list(futures[start : start + size]), errors=errors)

"""A Dask cluster that Ropewalk runs, as a `distributed` cluster. The server manages the cluster; this object sends requests."""

from __future__ import annotations

import asyncio
import contextlib
import time
import warnings
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from distributed.core import Status
from distributed.utils import Log, Logs

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config
from ropewalk.durations import Duration, seconds_of
from ropewalk.errors import RopewalkError
from ropewalk.lifecycle import DEFAULT_TIMEOUT_S, ClusterLifecycle
from ropewalk.logs import group_logs
from ropewalk.machines import ClusterMachines, cluster_fields
from ropewalk.package_sync import make_software, read_options
from ropewalk.package_sync.options import FailOn
from ropewalk.private_envs import check_envs, send_envs
from ropewalk.remote import Remote
from ropewalk.versions import matching_requirements
from ropewalk.waiting import DEFAULT_AMOUNT, WorkerAmount, check_amount

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LINK_MARGIN_S = 30.0


class Cluster(ClusterLifecycle):
    """Starts a Dask cluster, or connects to the open cluster of that name, and waits for its first workers.

    Parameters
    ----------
    name: name of the cluster; an open cluster of this name is used instead of a new one.
    n_workers: number of workers besides the scheduler; 4 by default.
    requirements: packages of the cluster's Python environment, as for pip, instead of package sync; dask and distributed have the
        versions that run here.
    package_sync: the cluster gets the Python environment of this process: Python version, packages, projects that are installed
        from a directory or from git, and the modules beside the program. On unless `requirements` is given. A list of names takes
        these packages only; False takes none.
    package_sync_ignore, package_sync_only: names of packages and modules.
    package_sync_strict: nothing may be left out.
    package_sync_fail_on: "critical-only", "warning-or-higher" or "any": the level of what is left out that makes the start fail.
    worker_class, worker_options, scheduler_class, scheduler_options: as for `dask spec`.
    environ: environment variables of scheduler and workers. For secrets see `send_private_envs`.
    idle_timeout: the server ends the cluster after this long without computation.
    unresponsive_timeout: the server ends the cluster when its scheduler has not answered for this long; 20 minutes by default.
    wait_for_workers: True waits for all workers, False for none, 3 for three, 0.5 for half of them; 0.3 by default.
    shutdown_on_close: whether `close` ends the cluster; by default unless the cluster existed before.
    keepalive: the server ends the cluster after this long without a client.
    private_to_creator: forbids other users of the workspace to connect.
    watchdog_timeout: an instance ends itself when the API has not answered it for this long; 30 minutes by default.
    asynchronous: for use with `async with` and `await`.
    timeout: limit for the start; 10 minutes by default, plus wait_for_capacity. When it expires, the cluster is shut down and
        ClusterTimeoutError, a TimeoutError, is raised.
    api_url, token: by default ROPEWALK_API_URL and ROPEWALK_TOKEN, then config.yaml in ROPEWALK_HOME (~/.ropewalk).
    quiet: no progress on stderr.

    Machines, when the server has a cloud provider; `plan_cluster` takes the same arguments and returns the price:

    worker_vm_types, scheduler_vm_types: acceptable instance types, preferred ones first.
    worker_cpu, scheduler_cpu: vCPUs, or a range: 4 or [2, 8]. Four by default.
    worker_memory, scheduler_memory: memory within 10 percent, or a range: "16 GiB" or ["8 GiB", "32 GiB"].
    worker_gpu: number of GPUs of each worker; True is 1.
    worker_disk_size: disk of each instance, in GiB.
    arm: ARM processors.
    spot_policy: "on-demand", "spot" or "spot_with_fallback", for the workers; compute_purchase_option is its old name.
    provider, region, zone: by default the provider and region of the server's configuration, and the zone with the best
        availability.
    allow_cross_zone: allows instances in different zones.
    wait_for_capacity: time for which launches are retried while the cloud has no capacity, e.g. "6h".
    allow_ssh, allow_ssh_from: opens port 22 of the scheduler's instance, to addresses, ranges, "me" or "everyone".
    allow_ingress_from: opens the scheduler's port to addresses, ranges, "me" or "everyone", separated by commas.
    scheduler_port: port of the scheduler; 8786 by default on a cloud, any free port where instances share a machine.
    use_scheduler_public_ip: False makes clients connect to the scheduler's private address.
    backend_options: Coiled's: region_name, zone_name, spot, spot_on_demand_fallback, multizone_allow_cross_zone, ingress, firewall.

    Examples
    --------
    >>> with ropewalk.Cluster(n_workers=2) as cluster:
    ...     client = cluster.get_client()
    ...     print(client.submit(sum, [1, 2, 3]).result())
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        n_workers: int = 4,
        requirements: Sequence[str] | None = None,
        package_sync: bool | Collection[str] | None = None,
        package_sync_ignore: Collection[str] | None = None,
        package_sync_only: Collection[str] | None = None,
        package_sync_strict: bool = False,
        package_sync_fail_on: FailOn = "critical-only",
        worker_class: str | None = None,
        worker_options: Mapping[str, Any] | None = None,
        scheduler_class: str | None = None,
        scheduler_options: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        idle_timeout: Duration = "20 minutes",
        wait_for_workers: WorkerAmount | None = None,
        shutdown_on_close: bool | None = None,
        keepalive: Duration | None = None,
        private_to_creator: bool = False,
        unresponsive_timeout: Duration | None = None,
        watchdog_timeout: Duration | None = None,
        asynchronous: bool = False,
        timeout: Duration | None = None,
        api_url: str | None = None,
        token: str | None = None,
        quiet: bool = False,
        loop: Any = None,
        **machines: Unpack[ClusterMachines],
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name is {name!r}: give text, or n_workers={name!r} for a number of workers")
        if requirements is not None and package_sync is not None and package_sync is not False:
            raise ValueError("requirements and package_sync both say what the cluster's environment has: give one of them")
        options = read_options(
            package_sync if requirements is None else False,
            package_sync_ignore,
            package_sync_only,
            package_sync_strict,
            package_sync_fail_on,
        )
        api = ClientApi(load_config(api_url, token))
        amount = DEFAULT_AMOUNT if wait_for_workers is None else wait_for_workers
        check_amount(amount)
        keepalive_s = None if keepalive is None else seconds_of(keepalive, "keepalive")
        body = _body(
            name=name,
            workers=n_workers,
            software=None if options is not None else {"requirements": matching_requirements(requirements)},
            env=check_envs(environ or {}),
            workerClass=worker_class,
            workerOptions=dict(worker_options or {}),
            schedulerClass=scheduler_class,
            schedulerOptions=dict(scheduler_options or {}),
            idleTimeout=seconds_of(idle_timeout, "idle_timeout"),
            noClientTimeout=keepalive_s,
            privateToCreator=private_to_creator,
            unresponsiveTimeout=(
                None if unresponsive_timeout is None else seconds_of(unresponsive_timeout, "unresponsive_timeout")
            ),
            watchdogTimeout=None if watchdog_timeout is None else seconds_of(watchdog_timeout, "watchdog_timeout"),
            **cluster_fields(machines),
        )
        self._is_adaptive = False
        self._link: tuple[str, float] | None = None
        self._acts: set[asyncio.Task[Any]] = set()
        super().__init__(
            Remote(api),
            body,
            amount=amount,
            # The wait for capacity is part of the start.
            timeout_s=(
                DEFAULT_TIMEOUT_S + body.get("waitForCapacity", 0.0)
                if timeout is None
                else seconds_of(timeout, "timeout")
            ),
            keepalive_s=keepalive_s,
            shutdown_on_close=shutdown_on_close,
            asynchronous=asynchronous,
            quiet=quiet,
            loop=loop,
            software=None if options is None else lambda say, until: make_software(api, options, say, until),
        )

    def scale(self, n: int) -> Any:
        """Sets the number of workers, and turns adaptive scaling off. Surplus workers finish their tasks first."""
        return self._act(self._scale, n)

    def adapt(self, Adaptive: Any = None, *, minimum: int = 1, maximum: int = 200, **kwargs: Any) -> Any:
        """Scales with the load between two numbers of workers, on the server: also after this process has ended."""
        if Adaptive is not None or kwargs:
            names = ", ".join(sorted(kwargs)) or "Adaptive"
            warnings.warn(f"Ropewalk's server has its own scaling rules: {names} has no effect.", stacklevel=2)
        return self._act(self._adapt, minimum, maximum)

    def wait_for_workers(self, n_workers: WorkerAmount = True, timeout: Duration | None = None) -> Any:
        """Waits as the argument `wait_for_workers` does. Ignores workers that failed to start."""
        check_amount(n_workers)
        seconds = DEFAULT_TIMEOUT_S if timeout is None else seconds_of(timeout, "timeout")
        return self.sync(self._wait_for_workers, n_workers, seconds)

    def get_logs(
        self, cluster: bool = True, scheduler: bool = True, workers: bool | Collection[str] = True
    ) -> Any:
        """Output of the processes, by worker name, including ended workers."""
        return self.sync(self._get_logs, cluster=cluster, scheduler=scheduler, workers=workers)

    def set_keepalive(self, keepalive: Duration) -> Any:
        """The server ends the cluster after this long without a client. This object reports a client while it is open."""
        return self._act(self._set_keepalive, seconds_of(keepalive, "keepalive"))

    def send_private_envs(self, env: Mapping[str, str]) -> Any:
        """Sets environment variables on the scheduler and on current and future workers, without sending them to Ropewalk."""
        return self._act(self._send_private_envs, check_envs(env))

    def get_dashboard_link(self) -> Any:
        """A link that signs its opener in, and is valid for minutes."""
        return self.sync(self._refresh_link)

    def shutdown(self) -> Any:
        """Ends the cluster, regardless of `shutdown_on_close`."""
        if self.status == Status.closed and not self.asynchronous:
            return self._remote.stop_now(timeout_s=20)
        done = self.sync(self._shutdown)
        if not self.asynchronous:
            self._loop_runner.stop()
        return done

    def close(self, timeout: float | None = None) -> Any:
        """Ends this object's use of the cluster, and the cluster if `shutdown_on_close`."""
        done = super().close(timeout)
        if not self.asynchronous:
            self._loop_runner.stop()
        return done

    @property
    def dashboard_link(self) -> str:
        """A link that signs its opener in, when one is available without waiting; see also `get_dashboard_link`."""
        if self.number is None or self.status == Status.closed:
            return ""
        if self._link is not None and time.time() < self._link[1] - _LINK_MARGIN_S:
            return self._link[0]
        with contextlib.suppress(RopewalkError, TimeoutError, asyncio.TimeoutError, RuntimeError):
            if _in_event_loop():
                # An event loop must not block: the next access has the new link.
                self.loop.add_callback(self._try_refresh_link)  # type: ignore[union-attr]
            else:
                return str(self.sync(self._refresh_link, callback_timeout=10))
        return self._remote.page()

    async def _scale(self, n: int) -> None:
        dask = (await self._remote.view())["dask"]
        if self._is_adaptive or (dask is not None and dask["adaptive"] is not None):
            await self._remote.adapt({})
            self._is_adaptive = False
        await self._remote.scale(n)
        self._requested = (n, time.monotonic())

    async def _adapt(self, minimum: int, maximum: int) -> None:
        await self._remote.adapt({"minimum": minimum, "maximum": maximum})
        self._is_adaptive, self._requested = True, None

    async def _get_logs(
        self, cluster: bool = True, scheduler: bool = True, workers: bool | Collection[str] = True
    ) -> Logs:
        own = {"Cluster": Log("\n".join(text for _, text in self._cluster_manager_logs))} if cluster else {}
        lines = await self._remote.logs()
        view = await self._remote.view()
        grouped = group_logs(view["name"], self._remote.heads, lines, scheduler=scheduler, workers=workers)
        return Logs({**own, **grouped})

    async def _send_private_envs(self, env: dict[str, str]) -> None:
        if not self.scheduler_comm:
            raise RopewalkError("The cluster has not started yet.", code="NOT_YET", hint="Await the cluster first.")
        await send_envs(self.scheduler_comm, env, f"ropewalk-private-envs-{time.time_ns()}")

    async def _refresh_link(self) -> str:
        link = await self._remote.dashboard()
        self._link = (link["url"], datetime.fromisoformat(link["expiresAt"].replace("Z", "+00:00")).timestamp())
        return link["url"]

    async def _try_refresh_link(self) -> None:
        with contextlib.suppress(RopewalkError):
            await self._refresh_link()

    def _act(self, act: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> Any:
        """Blocks until `act` is done; in a running event loop returns a task instead."""
        if not self.asynchronous:
            return self.sync(act, *args)
        task = asyncio.ensure_future(act(*args))
        self._acts.add(task)
        task.add_done_callback(self._acts.discard)
        return task

    def _scaling_status(self) -> str:
        mode = "Adaptive, on the server" if self._is_adaptive else "Manual"
        workers = len(self.scheduler_info["workers"])
        wanted = workers if self._requested is None else self._requested[0]
        count = str(workers) if wanted == workers else f"{workers} / {wanted}"
        cell = '<tr><td style="text-align: left;">'
        return f"<table>{cell}Scaling mode: {mode}</td></tr>{cell}Workers: {count}</td></tr></table>"

def _body(**values: Any) -> dict[str, Any]:
    """Without None values: the server has the defaults."""
    return {key: value for key, value in values.items() if value is not None}


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True

"""A Dask cluster that Ropewalk runs, as a `distributed` cluster. Its life is the server's business: this object asks."""

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
from ropewalk.life import DEFAULT_TIMEOUT_S, ClusterLife
from ropewalk.logs import group_logs
from ropewalk.machines import ClusterMachines, cluster_fields
from ropewalk.private_envs import check_envs, send_envs
from ropewalk.remote import Remote
from ropewalk.versions import matching_requirements
from ropewalk.waiting import DEFAULT_AMOUNT, WorkerAmount, check_amount

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LINK_MARGIN_S = 30.0


class Cluster(ClusterLife):
    """Starts a Dask cluster, or connects to the open one of that name, and waits for its first workers.

    Parameters
    ----------
    name: of the cluster; an open cluster of this name is used instead of a new one.
    n_workers: workers beside the scheduler; 4 unless given.
    requirements: of the cluster's Python environment, as for pip; its dask and distributed are those that run here.
    worker_class, worker_options, scheduler_class, scheduler_options: as `dask spec` takes them.
    environ: environment variables of scheduler and workers. For secrets see `send_private_envs`.
    idle_timeout: the server ends the cluster when it has computed nothing for so long.
    unresponsive_timeout: the server ends the cluster when its scheduler has not answered for so long; 20 minutes unless given.
    wait_for_workers: True waits for all, False for none, 3 for three, 0.5 for half of them; 0.3 unless given.
    shutdown_on_close: True unless the cluster existed before.
    keepalive: the server ends the cluster when it has heard of no client for so long.
    private_to_creator: nobody else in the workspace may connect.
    dead_man: its processes end by themselves when Ropewalk has not answered them for so long; 30 minutes unless given.
    asynchronous: for use with `async with` and `await`.
    timeout: for everything until this returns; 10 minutes unless given, and wait_for_capacity on top. After that the cluster is
        shut down and ClusterTimeoutError, a TimeoutError, is raised.
    api_url, token: else ROPEWALK_API_URL and ROPEWALK_TOKEN, else config.yaml in ROPEWALK_HOME (~/.ropewalk).
    quiet: no progress on stderr.

    On what it runs, where the server has a cloud; `plan_cluster` takes the same, and says what it would cost:

    worker_vm_types, scheduler_vm_types: instance types by name, the most wanted first.
    worker_cpu, scheduler_cpu: vCPUs, or a range: 4 or [2, 8]. Four unless given.
    worker_memory, scheduler_memory: a tenth more or less will do: "16 GiB" or ["8 GiB", "32 GiB"].
    worker_gpu: True or 1 for a GPU in each worker.
    worker_disk_size: in GiB, of each instance.
    arm: ARM processors.
    spot_policy: "on-demand", "spot" or "spot_with_fallback", for the workers; compute_purchase_option is its old name.
    provider, region, zone: where; the zone with the best availability unless given.
    allow_cross_zone: instances may be in different zones.
    wait_for_capacity: what cannot be had now is asked for again for so long, e.g. "6h".
    allow_ssh, allow_ssh_from: opens port 22 of the scheduler's instance, to an address, a range or "everyone".
    allow_ingress_from: who may reach the scheduler, likewise.
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
        dead_man: Duration | None = None,
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
        amount = DEFAULT_AMOUNT if wait_for_workers is None else wait_for_workers
        check_amount(amount)
        keepalive_s = None if keepalive is None else seconds_of(keepalive, "keepalive")
        body = _body(
            name=name,
            workers=n_workers,
            requirements=matching_requirements(requirements),
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
            deadMan=None if dead_man is None else seconds_of(dead_man, "dead_man"),
            **cluster_fields(machines),
        )
        self._is_adaptive = False
        self._link: tuple[str, float] | None = None
        self._acts: set[asyncio.Task[Any]] = set()
        super().__init__(
            Remote(ClientApi(load_config(api_url, token))),
            body,
            amount=amount,
            # Whoever waits for capacity waits here too.
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
        )

    def scale(self, n: int) -> Any:
        """Asks for this many workers, and turns adaptive scaling off. Workers that leave finish their tasks first."""
        return self._act(self._scale, n)

    def adapt(self, Adaptive: Any = None, *, minimum: int = 1, maximum: int = 200, **kwargs: Any) -> Any:
        """Lets the server follow the load between two numbers of workers, also when this process has ended."""
        if Adaptive is not None or kwargs:
            names = ", ".join(sorted(kwargs)) or "Adaptive"
            warnings.warn(f"Ropewalk's server scales by rules of its own: {names} has no effect.", stacklevel=2)
        return self._act(self._adapt, minimum, maximum)

    def wait_for_workers(self, n_workers: WorkerAmount = True, timeout: Duration | None = None) -> Any:
        """Waits as the argument `wait_for_workers` does. Workers that cannot start are not waited for."""
        check_amount(n_workers)
        seconds = DEFAULT_TIMEOUT_S if timeout is None else seconds_of(timeout, "timeout")
        return self.sync(self._wait_for_workers, n_workers, seconds)

    def get_logs(
        self, cluster: bool = True, scheduler: bool = True, workers: bool | Collection[str] = True
    ) -> Any:
        """What the processes printed, by the names of the workers, also of those that have ended."""
        return self.sync(self._get_logs, cluster=cluster, scheduler=scheduler, workers=workers)

    def set_keepalive(self, keepalive: Duration) -> Any:
        """The server ends the cluster when it has heard of no client for so long; while this is open it is told of one."""
        return self._act(self._set_keepalive, seconds_of(keepalive, "keepalive"))

    def send_private_envs(self, env: Mapping[str, str]) -> Any:
        """Sets environment variables on the scheduler and on present and future workers, without Ropewalk seeing them."""
        return self._act(self._send_private_envs, check_envs(env))

    def get_dashboard_link(self) -> Any:
        """A link that signs in whoever opens it within minutes."""
        return self.sync(self._refresh_link)

    def shutdown(self) -> Any:
        """Ends the cluster for everybody, whatever `shutdown_on_close` says."""
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
        """Signs in whoever opens it within minutes, where it can be had at once; see also `get_dashboard_link`."""
        if self.number is None or self.status == Status.closed:
            return ""
        if self._link is not None and time.time() < self._link[1] - _LINK_MARGIN_S:
            return self._link[0]
        with contextlib.suppress(RopewalkError, TimeoutError, asyncio.TimeoutError, RuntimeError):
            if _in_event_loop():
                # Nothing may wait here: for the next one who looks.
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
        self._asked = (n, time.monotonic())

    async def _adapt(self, minimum: int, maximum: int) -> None:
        await self._remote.adapt({"minimum": minimum, "maximum": maximum})
        self._is_adaptive, self._asked = True, None

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
            raise RopewalkError("The cluster has not started yet.", code="NOT_YET", hint="Await it first.")
        await send_envs(self.scheduler_comm, env, f"ropewalk-private-envs-{time.time_ns()}")

    async def _refresh_link(self) -> str:
        link = await self._remote.dashboard()
        self._link = (link["url"], datetime.fromisoformat(link["expiresAt"].replace("Z", "+00:00")).timestamp())
        return link["url"]

    async def _try_refresh_link(self) -> None:
        with contextlib.suppress(RopewalkError):
            await self._refresh_link()

    def _act(self, act: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> Any:
        """Done when it returns; in a running event loop it is under way, and can be awaited."""
        if not self.asynchronous:
            return self.sync(act, *args)
        task = asyncio.ensure_future(act(*args))
        self._acts.add(task)
        task.add_done_callback(self._acts.discard)
        return task

    def _scaling_status(self) -> str:
        mode = "Adaptive, on the server" if self._is_adaptive else "Manual"
        workers = len(self.scheduler_info["workers"])
        count = f"{workers} / {self._asked[0]}" if self._asked and self._asked[0] != workers else str(workers)
        cell = '<tr><td style="text-align: left;">'
        return f"<table>{cell}Scaling mode: {mode}</td></tr>{cell}Workers: {count}</td></tr></table>"

def _body(**values: Any) -> dict[str, Any]:
    """What is not given is the server's to choose."""
    return {key: value for key, value in values.items() if value is not None}


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True

"""A program's use of a cluster: scale it, read its logs, open its dashboard, end it; and its display in a notebook."""

from __future__ import annotations

import asyncio
import html
import re
import time
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

from distributed.core import Status
from distributed.utils import Log, Logs

from ropewalk.amounts import check_scale, refuse_cores, refuse_parts
from ropewalk.cluster_waits import DEFAULT_TIMEOUT_S, dask_of
from ropewalk.credentials import is_own_choice
from ropewalk.durations import Duration, seconds_of
from ropewalk.errors import RopewalkError
from ropewalk.links import LinkedCluster
from ropewalk.logs import Since, Workers, check_named, chosen_lines, grouped, is_wanted, named_workers, read_filter, read_since, worker_names
from ropewalk.logs import merged as merge_lines
from ropewalk.machines import refuse_unknown
from ropewalk.private_envs import check_envs, send_envs
from ropewalk.waiting import WorkerAmount, check_amount

T = TypeVar("T")


class ClusterUse(LinkedCluster):
    _show_widget: bool
    _acts: set[asyncio.Task[Any]]

    def scale(self, n: int | None = None, force_stop: bool = True, **parts: Any) -> Any:
        """Sets the number of workers, and turns adaptive scaling off. Surplus workers finish their tasks first, for at most two
        minutes; then their instances end, as with Coiled's `force_stop=True`."""
        refuse_parts(parts)
        if not force_stop:
            raise ValueError("force_stop=False has no effect here: surplus workers first finish their tasks, for at most two minutes")
        workers = check_scale(n)
        # Set at once, for calls of the program before this request is answered.
        self._requested = (workers, time.monotonic())
        return self._act(self._scale, workers)

    def adapt(
        self,
        Adaptive: Any = None,
        *,
        minimum: int = 1,
        maximum: int = 200,
        target_duration: Duration = "3m",
        wait_count: int = 24,
        interval: Duration = "5s",
        **kwargs: Any,
    ) -> Any:
        """Scales with the load between two numbers of workers, on the server: also after this process has ended.

        The scheduler requests as many workers as finish its known work in `target_duration`, and computes this
        every `interval`. A worker is closed after `wait_count` intervals in a row without need for it.
        """
        refuse_cores(kwargs)
        refuse_unknown(kwargs, ("Adaptive", "minimum", "maximum", "target_duration", "wait_count", "interval"))
        if Adaptive is not None:
            text = "The server scales the cluster, also without this process: the class Adaptive has no effect."
            warnings.warn(text, stacklevel=2)
        return self._act(
            self._adapt,
            {
                "minimum": minimum,
                "maximum": maximum,
                "targetDuration": seconds_of(target_duration, "target_duration"),
                "waitCount": wait_count,
                "interval": seconds_of(interval, "interval"),
            },
        )

    async def recommendations(self, target: int) -> dict[str, Any]:
        """The change that leads to `target` workers: {"status": "same"}, {"status": "up", "n": 8} or {"status":
        "down", "workers": [...]} with the addresses of the workers to close."""
        return await self._on_own_loop(self._recommend, target)

    async def workers_to_close(self, target: int) -> list[str]:
        """The addresses of the least useful workers beyond `target`, chosen by the scheduler."""
        return await self._on_own_loop(self._surplus, target)

    async def scale_up(self, n: int, reason: str | None = None) -> None:
        """Scales up to `n` workers, not by `n`."""
        await self._on_own_loop(self._scale_up, check_scale(n, "scale_up"))

    async def _recommend(self, target: int) -> dict[str, Any]:
        wanted = dask_of(await self._remote.view())["workersWanted"]
        if target == wanted:
            return {"status": "same"}
        if target > wanted:
            return {"status": "up", "n": target}
        return {"status": "down", "workers": await self._surplus(target)}

    async def _surplus(self, target: int) -> list[str]:
        surplus = len(self.scheduler_info["workers"]) - target
        if self.scheduler_comm is None or surplus <= 0:
            return []
        closing: list[str] = await self.scheduler_comm.workers_to_close(n=surplus, attribute="address")
        return closing

    async def _scale_up(self, n: int) -> None:
        if n > dask_of(await self._remote.view())["workersWanted"]:
            await self._scale(n)

    async def _on_own_loop(self, ask: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Awaited in another event loop, such as a notebook's, Dask's connections would never answer."""
        if self.status == Status.closed:
            raise self.ended or RopewalkError("This cluster object is closed; make a new one.", code="CLOSED")
        own = cast(Any, self.loop).asyncio_loop
        if own is asyncio.get_running_loop():
            return await ask(*args)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask(*args), own))

    def wait_for_workers(self, n_workers: WorkerAmount = True, timeout: Duration | None = None) -> Any:
        """Waits like the argument `wait_for_workers`. Ignores workers that failed to start."""
        check_amount(n_workers)
        seconds = DEFAULT_TIMEOUT_S if timeout is None else seconds_of(timeout, "timeout")
        return self.sync(self._wait_for_workers, n_workers, seconds)

    # Coiled's order; distributed has `cluster` first.
    def get_logs(  # type: ignore[override]
        self,
        scheduler: bool = True,
        workers: Workers = True,
        *,
        filter: str | re.Pattern[str] | None = None,
        since: Since | None = None,
        merged: bool = False,
        cluster: bool = True,
    ) -> Any:
        """Output of the scheduler and of each worker by name, including ended workers, of an ended cluster too.

        `workers` is True or "all", False, "any" for one of them, or names, ids, states and addresses. `filter` is a text that lines
        contain, or "%regex%"; `since` an age like "10m", or a time. With `merged` the result is one text in order of time, each
        line with its time and source; otherwise `cluster` adds the messages of this object.
        """
        chosen = {"filter": read_filter(filter), "since": read_since(since, datetime.now().astimezone())}
        return self.sync(self._get_logs, cluster=cluster, scheduler=scheduler, workers=workers, merged=merged, **chosen)

    def set_keepalive(self, keepalive: Duration) -> Any:
        """The server ends the cluster after this long without a client. This object reports a client while it is
        open."""
        return self._act(self._set_keepalive, seconds_of(keepalive, "keepalive"))

    def send_private_envs(self, env: Mapping[str, str], raise_on_error: bool | None = None) -> Any:
        """Sets environment variables on the scheduler and on current and future workers, without sending them to Ropewalk. A
        failure is always raised, as with Coiled's `raise_on_error=True`."""
        return self._act(self._send_private_envs, check_envs(env))

    def unset_env_vars(self, unset: Iterable[str]) -> Any:
        """Removes environment variables on the scheduler and on current and future workers."""
        return self._act(self._send_private_envs, dict.fromkeys(check_envs(dict.fromkeys(unset, ""))))

    def send_credentials(self, automatic_refresh: bool = True) -> Any:
        """Sends the AWS credentials of this machine to the cluster now, and keeps them fresh unless `automatic_refresh` is
        False. With `credentials="local"`, the default, that happens automatically."""
        return self._act(self._aws.send_now, automatic_refresh)

    def why(self) -> Any:
        """Why the cluster runs or waits, is not larger, has its instance types, or has stopped: a dict with
        `sentences`, each with its `text` and supporting `facts`. Also for ended clusters, as long as this object
        exists."""
        if self.status == Status.closed and not self.asynchronous:
            return self._remote.why_now()
        return self.sync(self._remote.why)

    def shutdown(self) -> Any:
        """Ends the cluster, regardless of `shutdown_on_close`."""
        if self.status == Status.closed and not self.asynchronous:
            return self._remote.stop_now(timeout_s=20)
        done = self.sync(self._shutdown)
        if not self.asynchronous:
            self._loop_runner.stop()
        return done

    def close(self, timeout: float | None = None, *, force_shutdown: bool = False, reason: str | None = None) -> Any:
        """Ends this object's use of the cluster, and the cluster if `shutdown_on_close` or `force_shutdown`. `reason` is for the
        messages of this object."""
        if force_shutdown:
            self.shutdown_on_close = True
        if reason is not None and self.status != Status.closed:
            self._log(f"Closing: {reason}")
        done = super().close(timeout)
        if not self.asynchronous:
            self._loop_runner.stop()
        return done

    async def _scale(self, n: int) -> None:
        try:
            dask = (await self._remote.view())["dask"]
            if self._is_adaptive or (dask is not None and dask["adaptive"] is not None):
                await self._remote.adapt({})
                self._is_adaptive = False
            await self._remote.scale(n)
        except BaseException:
            self._requested = None
            raise
        self._requested = (n, time.monotonic())

    async def _adapt(self, bounds: dict[str, Any]) -> None:
        await self._remote.adapt(bounds)
        self._is_adaptive, self._requested = True, None

    async def _get_logs(
        self,
        cluster: bool = True,
        scheduler: bool = True,
        workers: Workers = True,
        *,
        filter: re.Pattern[str] | None = None,
        since: str | None = None,
        merged: bool = False,
    ) -> Logs | Log:
        lines = await self._remote.logs(since)
        view = await self._remote.view()
        name, heads = view["name"], self._remote.heads
        workers = named_workers(workers, {at: str(one["name"]) for at, one in self.scheduler_info["workers"].items()})
        check_named(name, heads, view["instances"], lines, workers)
        chosen = chosen_lines(lines, is_wanted(name, heads, view["instances"], scheduler=scheduler, workers=workers), filter)
        if merged:
            return merge_lines(name, heads, chosen)
        own = {"Cluster": Log("\n".join(text for _, text in self._cluster_manager_logs))} if cluster else {}
        return Logs({**own, **grouped(name, heads, chosen)})

    async def _send_private_envs(self, env: dict[str, str]) -> None:
        if not self.scheduler_comm:
            raise RopewalkError("The cluster has not started yet.", code="NOT_YET", hint="Await the cluster first.")
        if is_own_choice(env):
            self._aws.stop()
        await send_envs(self.scheduler_comm, env, f"ropewalk-private-envs-{time.time_ns()}")

    def _act(self, act: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> Any:
        """Blocks until `act` is done; in a running event loop returns a task instead."""
        if self.ended is not None:
            raise self.ended
        if not self.asynchronous:
            return self.sync(act, *args)
        task = asyncio.ensure_future(act(*args))
        self._acts.add(task)
        task.add_done_callback(self._acts.discard)
        return task

    @property
    def requested(self) -> set[str]:
        """Names of the workers with an existing or requested instance. Sends a request."""
        return worker_names(self._remote.view_now())

    @property
    def plan(self) -> set[str]:
        """Names of the requested workers: the `requested` ones, and `NAME-worker-to-launch-1`... for missing ones.
        Sends a request."""
        view = self._remote.view_now()
        names = sorted(worker_names(view))
        wanted = dask_of(view)["workersWanted"]
        missing = {f"{view['name']}-worker-to-launch-{number + 1}" for number in range(wanted - len(names))}
        return {*names[:wanted], *missing}

    def __repr__(self) -> str:
        if self.ended is not None:
            return f"<Cluster {self.name}: {self.ended}>"
        # The scheduler's last report is outdated.
        return f"<Cluster {self.name}: closed>" if self.status == Status.closed else super().__repr__()

    def _repr_html_(self, cluster_status: str | None = None) -> str:
        shown: str = super()._repr_html_(cluster_status)
        return shown if self.ended is None else f"<p>{html.escape(str(self.ended).capitalize())}</p>{shown}"

    def _ipython_display_(self, **kwargs: Any) -> None:
        if self._show_widget:
            super()._ipython_display_(**kwargs)
        else:
            print(repr(self))

    def _scaling_status(self) -> str:
        if self.ended is not None:
            return f"<p>{html.escape(str(self.ended))}</p>"
        mode = "Adaptive, on the server" if self._is_adaptive else "Manual"
        workers = len(self.scheduler_info["workers"])
        wanted = workers if self._requested is None else self._requested[0]
        count = str(workers) if wanted == workers else f"{workers} / {wanted}"
        cell = '<tr><td style="text-align: left;">'
        return f"<table>{cell}Scaling mode: {mode}</td></tr>{cell}Workers: {count}</td></tr></table>"

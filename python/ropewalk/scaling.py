"""Scaling of a cluster by its program: a number of workers, or a range that the server scales within."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from distributed.core import Status

from ropewalk.adaptive import AdaptiveScaling
from ropewalk.amounts import check_scale, refuse_cores, refuse_parts
from ropewalk.cluster_waits import dask_of
from ropewalk.durations import Duration, seconds_of
from ropewalk.errors import RopewalkError
from ropewalk.links import LinkedCluster
from ropewalk.machines import refuse_unknown

T = TypeVar("T")


class ScaledCluster(LinkedCluster):
    _acts: set[asyncio.Task[Any]]
    _adaptive_scaling: AdaptiveScaling | None = None

    def scale(self, n: int | None = None, force_stop: bool = True, **parts: Any) -> Any:
        """Sets the number of workers, and turns adaptive scaling off. Surplus workers finish their tasks first, for at most two
        minutes; then their instances end, as with Coiled's `force_stop=True`."""
        refuse_parts(parts)
        if not force_stop:
            raise ValueError("force_stop=False has no effect here: surplus workers first finish their tasks, for at most two minutes")
        workers = check_scale(n)
        # Set at once, for calls of the program before this request is answered.
        self._requested = (workers, time.monotonic())
        self._replace_adaptive(None)
        return self._act(self._scale, workers)

    # The object of distributed scales in this process.
    def adapt(  # type: ignore[override]
        self,
        Adaptive: Any = None,
        *,
        minimum: int = 1,
        maximum: int = 200,
        target_duration: Duration = "3m",
        wait_count: int = 24,
        interval: Duration = "5s",
        **kwargs: Any,
    ) -> AdaptiveScaling:
        """Scales with the load between two numbers of workers, on the server: also after this process has ended. Returns a handle
        with the bounds and `stop`, which is awaitable with `asynchronous=True`.

        The scheduler requests as many workers as finish its known work in `target_duration`, and computes this
        every `interval`. A worker is closed after `wait_count` intervals in a row without need for it.
        """
        refuse_cores(kwargs)
        refuse_unknown(kwargs, ("Adaptive", "minimum", "maximum", "target_duration", "wait_count", "interval"))
        if Adaptive is not None:
            text = "The server scales the cluster, also without this process: the class Adaptive has no effect."
            warnings.warn(text, stacklevel=2)
        adaptive = AdaptiveScaling(
            self,
            minimum=minimum,
            maximum=maximum,
            target_duration=seconds_of(target_duration, "target_duration"),
            wait_count=wait_count,
            interval=seconds_of(interval, "interval"),
        )
        adaptive._request = self._act(self._adapt, adaptive)
        self._replace_adaptive(adaptive)
        return adaptive

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

    def _replace_adaptive(self, adaptive: AdaptiveScaling | None) -> None:
        if self._adaptive_scaling is not None:
            self._adaptive_scaling._is_replaced = True
        self._adaptive_scaling = adaptive

    async def _adapt(self, adaptive: AdaptiveScaling) -> None:
        await self._remote.adapt(
            {
                "minimum": adaptive.minimum,
                "maximum": adaptive.maximum,
                "targetDuration": adaptive.target_duration,
                "waitCount": adaptive.wait_count,
                "interval": adaptive.interval,
            }
        )
        self._is_adaptive, self._requested = True, None

    def _stop_adaptive(self, adaptive: AdaptiveScaling, reason: str | None) -> Any:
        if adaptive.state == "stopped":
            return asyncio.ensure_future(asyncio.sleep(0)) if self.asynchronous else None
        self._replace_adaptive(None)
        self._log("Adaptive scaling is off" if reason is None else f"Adaptive scaling is off: {reason}")
        return self._act(self._end_adaptive, adaptive)

    async def _end_adaptive(self, adaptive: AdaptiveScaling) -> None:
        await adaptive._settle()
        # Unless the program has turned it on again meanwhile.
        if self._adaptive_scaling is None:
            await self._remote.adapt({})
            self._is_adaptive = False

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

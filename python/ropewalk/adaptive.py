"""What `Cluster.adapt` returns: a handle of the adaptive scaling that the server does."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from distributed.core import Status

from ropewalk.errors import RopewalkError

if TYPE_CHECKING:
    from ropewalk.scaling import ScaledCluster


class AdaptiveScaling:
    """The adaptive scaling of a cluster, with the names of `distributed.deploy.Adaptive`. The server scales, so it goes on when
    this object or its process ends; `stop` turns it off.

    >>> adaptive = cluster.adapt(minimum=1, maximum=10)
    >>> adaptive.maximum
    10
    >>> cluster.sync(adaptive.target)
    4
    >>> adaptive.stop()

    With `asynchronous=True` the request is sent in the background, and `await cluster.adapt(...)` waits for it.
    """

    def __init__(
        self, cluster: ScaledCluster, *, minimum: int, maximum: int, target_duration: float, wait_count: int, interval: float
    ) -> None:
        self.cluster = cluster
        self.minimum = minimum
        self.maximum = maximum
        #: Seconds.
        self.target_duration = target_duration
        self.wait_count = wait_count
        #: Seconds.
        self.interval = interval
        self._request: asyncio.Future[None] | None = None
        self._is_replaced = False

    @property
    def state(self) -> Literal["starting", "running", "stopped"]:
        """`stopped` after `stop`, a later `scale` or `adapt` of the same object, a failed request, and the end of the cluster. It
        does not show what other programs request."""
        if self._is_replaced or self.cluster.ended is not None or self.cluster.status == Status.closed:
            return "stopped"
        if self._request is None:
            return "running"
        if not self._request.done():
            return "starting"
        return "stopped" if self._request.cancelled() or self._request.exception() is not None else "running"

    def stop(self, reason: str | None = None) -> Any:
        """Turns adaptive scaling off: the cluster keeps its present number of workers. Awaitable with `asynchronous=True`. A stopped
        one does nothing. `reason` is for the messages of the cluster object."""
        return self.cluster._stop_adaptive(self, reason)

    async def target(self) -> int:
        """The number of workers that the scheduler needs now, which the server keeps between `minimum` and `maximum`."""
        return await self.cluster._on_own_loop(self._target)

    async def recommendations(self, target: int) -> dict[str, Any]:
        """See `Cluster.recommendations`."""
        return await self.cluster.recommendations(target)

    async def workers_to_close(self, target: int) -> list[str]:
        """See `Cluster.workers_to_close`."""
        return await self.cluster.workers_to_close(target)

    async def _target(self) -> int:
        if self.cluster.scheduler_comm is None:
            raise RopewalkError("The cluster has not started yet.", code="NOT_YET", hint="Await the cluster first.")
        return int(await self.cluster.scheduler_comm.adaptive_target(target_duration=self.target_duration))

    async def _settle(self) -> None:
        """Waits for the request that turns it on, whose error its caller gets."""
        if self._request is not None:
            with suppress(Exception):
                await asyncio.shield(self._request)

    def __await__(self) -> Generator[Any, None, AdaptiveScaling]:
        if self._request is not None:
            yield from self._request
        return self

    def __repr__(self) -> str:
        return f"<AdaptiveScaling of {self.cluster.name}: {self.minimum} to {self.maximum} workers, {self.state}>"

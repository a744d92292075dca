"""Follows the cluster on the server: when the scheduler's connection is lost, the server reports whether the
cluster has ended, and why. Then this process's clients are closed, and their unfinished futures raise
ClusterEndedError."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from distributed import Client
from distributed import client as dask_client
from distributed.comm.core import connect

from ropewalk.errors import ClusterEndedError, RopewalkError
from ropewalk.remote import Remote
from ropewalk.views import ClusterView

_ENDED = ("stopping", "stopped", "error")
_FIRST_PAUSE_S = 0.1
_MAX_PAUSE_S = 2.0
_ClosedClientError: type[Exception] = getattr(dask_client, "ClosedClientError", RuntimeError)
#: After this long without an answer about a lost scheduler, Dask's own rules apply.
_GIVE_UP_AFTER_S = 120.0
_DIAL_TIMEOUT_S = 2.0


def ended_error(view: ClusterView) -> ClusterEndedError | None:
    """None while the cluster is open. The time is in this machine's time zone."""
    if view["status"] not in _ENDED:
        return None
    reason = view["reason"]
    at = (None if reason is None else reason.get("at")) or view.get("endedAt")
    when = datetime.now() if at is None else datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone()
    why = "" if reason is None else f": {reason['text']}"
    code = "STOPPED" if reason is None else reason["code"]
    return ClusterEndedError(f"cluster {view['number']} ended at {when:%H:%M}{why}", code=code)


class Scheduler(NamedTuple):
    address: str
    connection_args: dict[str, Any]


class Follower:
    def __init__(self, remote: Remote, *, on_end: Callable[[ClusterEndedError], Awaitable[None]]) -> None:
        self._remote = remote
        self._on_end = on_end
        self._inquiry: asyncio.Task[ClusterEndedError | None] | None = None

    async def follow(self, watching: asyncio.Task[Any], scheduler: Scheduler, rejoin: Callable[[], Awaitable[Any]]) -> None:
        """Runs until the cluster ends. `watching` ends when the scheduler's connection is lost, and `rejoin`
        reconnects."""
        while True:
            await asyncio.wait([watching])
            error = await self.why_lost(scheduler)
            if error is not None:
                await self._on_end(error)
                return
            try:
                watching = await rejoin()
            except (OSError, asyncio.TimeoutError):
                await asyncio.sleep(_MAX_PAUSE_S)

    async def why_lost(self, scheduler: Scheduler) -> ClusterEndedError | None:
        """Why the cluster has ended; None when its scheduler can be reached again, or the reason is unknown. One
        inquiry serves all callers."""
        if self._inquiry is None or self._inquiry.done():
            self._inquiry = asyncio.ensure_future(self._inquire(scheduler))
        return await asyncio.shield(self._inquiry)

    async def _inquire(self, scheduler: Scheduler) -> ClusterEndedError | None:
        deadline, pause = time.monotonic() + _GIVE_UP_AFTER_S, _FIRST_PAUSE_S
        while time.monotonic() < deadline:
            with contextlib.suppress(RopewalkError):
                if (error := ended_error(await self._remote.view(deadline))) is not None:
                    return error
            if await _answers(scheduler):
                return None
            await asyncio.sleep(pause)
            pause = min(_MAX_PAUSE_S, pause * 2)
        return None


async def _answers(scheduler: Scheduler) -> bool:
    try:
        comm = await connect(scheduler.address, timeout=_DIAL_TIMEOUT_S, **scheduler.connection_args)
    except (OSError, asyncio.TimeoutError):
        return False
    await comm.close()
    return True


def clients_of(cluster: Any) -> list[Any]:
    """The open Dask clients of this cluster object."""
    return [one for one in list(getattr(Client, "_instances", ())) if getattr(one, "cluster", None) is cluster]


def ask_before_reconnect(clients: Iterable[Any], why_lost: Callable[[], Awaitable[ClusterEndedError | None]]) -> None:
    """Dask's clients cancel all futures as soon as the scheduler's connection is lost, without a reason, and try
    for 30 seconds to reconnect. These clients request the reason first."""
    for client in clients:
        if "_reconnect" not in vars(client) and hasattr(client, "_reconnect"):
            client._reconnect = _reconnect_of(client, client._reconnect, why_lost)


def _reconnect_of(client: Any, reconnect: Any, why_lost: Callable[[], Awaitable[ClusterEndedError | None]]) -> Any:
    async def ask_first() -> None:
        error = await why_lost()
        if error is None:
            await reconnect()
        else:
            await end_client(client, error)

    return ask_first


async def end_client(client: Any, error: ClusterEndedError) -> None:
    """Unfinished futures raise the error; so do finished ones, whose results were in the cluster's memory."""
    states = list(client.futures.values())
    # `close` cancels the futures that the client still knows.
    client.futures.clear()
    for state in states:
        state.set_error(error, None)
    client.scheduler_comm = None
    await client._close()

    def refuse(message: Any) -> None:
        raise _ClosedClientError(f"Client is closed: {error}.") from error

    # Otherwise later submissions are refused without the reason.
    client._send_to_scheduler = refuse

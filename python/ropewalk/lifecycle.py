"""The lifecycle of a cluster object: create or find the cluster, connect, keep it alive, end it. When the start fails, a new
cluster is stopped; if that fails too, the server ends the cluster by its timeouts."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import math
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Generator
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from dask.utils import parse_timedelta
from distributed import Security, rpc
from distributed.core import Status
from distributed.deploy.cluster import Cluster as DaskCluster

from ropewalk.errors import ClusterFailedError, ClusterTimeoutError, RopewalkError
from ropewalk.remote import Remote
from ropewalk.security import make_security
from ropewalk.versions import version_mismatch
from ropewalk.views import ClusterView, DaskView
from ropewalk.waiting import WorkerAmount, check_alive, count_of, is_settled, progress

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger("distributed.ropewalk")

#: Makes the field `software` of the request; blocks. Gets a function for lines to the user, and a deadline (time.monotonic).
MakeSoftware = Callable[[Callable[[str], None], float], dict[str, Any]]

DEFAULT_TIMEOUT_S = 600.0
KEEPALIVE_EVERY_S = 30.0
#: A view can be older than a preceding `scale` by at most this.
_VIEW_LAG_S = 10.0


class ClusterLifecycle(DaskCluster):
    _open: ClassVar[weakref.WeakSet[ClusterLifecycle]] = weakref.WeakSet()

    def __init__(
        self,
        remote: Remote,
        body: dict[str, Any],
        *,
        amount: WorkerAmount,
        timeout_s: float,
        keepalive_s: float | None,
        shutdown_on_close: bool | None,
        asynchronous: bool,
        quiet: bool,
        loop: Any,
        software: MakeSoftware | None = None,
    ) -> None:
        self._remote = remote
        self._body = body
        self._software = software
        self._amount = amount
        self._timeout_s = timeout_s
        self._keepalive_s = keepalive_s
        self.shutdown_on_close = shutdown_on_close
        self.security: Security | None = None
        # Until the server has reported a new cluster: an existing cluster is not stopped.
        self._existed = True
        #: A requested number of workers, and the time of the request.
        self._requested: tuple[int, float] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        super().__init__(asynchronous=asynchronous, loop=loop, quiet=quiet, name=body.get("name"))
        self._open.add(self)
        if self.called_from_running_loop:
            return
        self._loop_runner.start()
        try:
            self.sync(self._start)
        except BaseException:
            # On Ctrl-C the event loop still runs: a new cluster is stopped before the loop is.
            with contextlib.suppress(Exception):
                self.sync(self._give_up, callback_timeout=15)
            self._loop_runner.stop()
            raise

    @property
    def number(self) -> int | None:
        """The cluster's number in the API and the command line."""
        return self._remote.number

    def __await__(self) -> Generator[Any, None, Self]:
        yield from self._start().__await__()
        return self

    async def _start(self) -> None:
        while self.status == Status.starting:
            await asyncio.sleep(0.01)
        if self.status == Status.running:
            return
        if self.status in (Status.closing, Status.closed):
            raise RopewalkError("This cluster object is closed; make a new one.", code="CLOSED")
        self.status = Status.starting
        try:
            await self._begin(time.monotonic() + self._timeout_s)
        except BaseException:
            await self._give_up()
            raise

    async def _begin(self, deadline: float) -> None:
        if self._software is not None:
            self._body["software"] = await asyncio.to_thread(self._software, self._log, deadline)
        created = await self._remote.find_or_create(self._body, deadline)
        self.name, self._existed = created["name"], created["existing"]
        if self.shutdown_on_close is None:
            self.shutdown_on_close = not self._existed
        self._log(f"{'Using' if self._existed else 'Created'} cluster {self.number} ({self.name})")
        for warning in created["warnings"]:
            self._log(f"Note: {warning}")
        if (price := created.get("pricePerHour")) is not None:
            self._log(f"It costs ${price['firstChoice']:.2f} to ${price['max']:.2f} per hour while all its instances run")
        if not self._existed:
            self._requested = (self._body["workers"], time.monotonic())
        view = await self._wait_for_scheduler(deadline)
        if self._existed and self._body["workers"] != _dask(view)["workersWanted"]:
            self._log(f"It has {_dask(view)['workersWanted']} workers, not {self._body['workers']}: use scale to change that.")
        await self._connect(deadline)
        if self._keepalive_s is not None:
            await self._set_keepalive(self._keepalive_s, deadline)
        await self._wait_for_workers(self._amount, deadline - time.monotonic())

    async def _wait_for_scheduler(self, deadline: float) -> ClusterView:
        pause, reported = 0.1, ""
        while True:
            view = await self._remote.view(deadline)
            check_alive(view)
            if view["dask"] is not None and view["dask"]["schedulerAddress"] is not None:
                return view
            if progress(view) != reported:
                reported = progress(view)
                self._log(f"Cluster {self.number}: {reported}")
            if time.monotonic() > deadline:
                raise self._too_late("its scheduler", reported)
            await asyncio.sleep(pause)
            pause = min(1.0, pause * 1.5)

    async def _connect(self, deadline: float) -> None:
        credentials = await self._remote.credentials(deadline)
        self.security = make_security(credentials)
        address = credentials["schedulerAddress"]
        self.scheduler_comm = rpc(address, connection_args=self.security.get_connection_args("client"))
        try:
            name = self.name
            await super()._start()
            # Dask has overwritten the name with the one that an earlier client set on the scheduler.
            self.name = name
            mismatch = version_mismatch(await self.scheduler_comm.versions())
        except (OSError, asyncio.TimeoutError) as error:
            raise RopewalkError(
                f"The scheduler of cluster {self.number} at {address} cannot be reached from this machine: {error}",
                code="SCHEDULER_UNREACHABLE",
                hint="Check that the cluster has not ended, and that no firewall blocks the address.",
            ) from error
        if mismatch is not None:
            warnings.warn(mismatch, stacklevel=2)

    async def _wait_for_workers(self, n_workers: WorkerAmount = 0, timeout: Any = None) -> None:
        if n_workers is False or n_workers == 0:
            return
        deadline = time.monotonic() + (DEFAULT_TIMEOUT_S if timeout is None else parse_timedelta(timeout))
        reported, viewed, view = "", -math.inf, None
        while True:
            # The scheduler is the first to know connected workers; only the server knows failed ones.
            started = len(self.scheduler_info["workers"])
            if self._requested is not None and started >= count_of(n_workers, self._requested[0]):
                return
            if view is None or time.monotonic() - viewed > 1:
                view, viewed = await self._remote.view(deadline), time.monotonic()
                check_alive(view)
                if progress(view) != reported:
                    reported = progress(view)
                    self._log(f"Cluster {self.number}: {reported}")
            wanted = _dask(view)["workersWanted"]
            if self._requested is not None and time.monotonic() < self._requested[1] + _VIEW_LAG_S:
                wanted = self._requested[0]
            else:
                self._requested = None
            needed = count_of(n_workers, wanted)
            started = len(self.scheduler_info["workers"])
            if started >= needed or is_settled(view, wanted, needed, started):
                return
            if time.monotonic() > deadline:
                raise self._too_late(f"{needed} workers", reported)
            await asyncio.sleep(0.05)

    async def _set_keepalive(self, seconds: float, until: float = math.inf) -> None:
        self._keepalive_s = seconds
        await self._remote.keepalive(seconds, until)
        if self._keeping is not None:
            self._keeping.cancel()
        self._keeping = asyncio.ensure_future(self._keep_alive(seconds))

    async def _keep_alive(self, seconds: float) -> None:
        is_failing = False
        while True:
            await asyncio.sleep(min(KEEPALIVE_EVERY_S, seconds / 3))
            try:
                await self._remote.keepalive(seconds)
                is_failing = False
            except RopewalkError as error:
                if error.code in ("CONFLICT", "NOT_FOUND"):
                    logger.info("Cluster %s has ended: keepalives stop.", self.number)
                    return
                if not is_failing:
                    logger.warning("Cluster %s can end, because a keepalive failed: %s", self.number, error)
                is_failing = True

    async def _shutdown(self) -> None:
        before, self.status = self.status, self._status_while_ending()
        try:
            await self._remote.stop()
        except BaseException:
            if self._ending is None:
                self.status = before
            raise
        self.shutdown_on_close = False
        await self._close()

    async def _give_up(self) -> None:
        await self._end(not self._existed or bool(self.shutdown_on_close))

    async def _close(self) -> None:
        await self._end(bool(self.shutdown_on_close))

    async def _end(self, stop: bool) -> None:
        """Runs once, and to the end, also when its caller is cancelled."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end_now(stop))
        await asyncio.shield(self._ending)

    async def _end_now(self, stop: bool) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
        if stop and self.number is not None:
            self.status = self._status_while_ending()
            try:
                await self._remote.stop()
            except RopewalkError as error:
                if error.code not in ("CONFLICT", "NOT_FOUND"):
                    logger.warning("Cluster %s was not stopped; its idle timeout ends it: %s", self.number, error)
        await super()._close()
        self._open.discard(self)

    def _status_while_ending(self) -> Status:
        """The scheduler can end before the API has answered: with this status clients do not reconnect."""
        return Status.closing if self.status == Status.running else self.status

    def _log(self, log: str) -> None:
        """On stderr: stdout belongs to the program."""
        self._cluster_manager_logs.append((datetime.now(), log))
        if not self.quiet:
            print(log, file=sys.stderr)

    def _too_late(self, what: str, reported: str) -> ClusterTimeoutError:
        return ClusterTimeoutError(f"Cluster {self.number} did not have {what} in time: {reported}.", code="TIMEOUT")

    def _stop_at_exit(self) -> None:
        """At exit the event loop may have ended, and the threads of `asyncio.to_thread` have."""
        if self.status == Status.closed:
            return
        if self.shutdown_on_close and self.number is not None:
            with contextlib.suppress(Exception):
                self._remote.stop_now(timeout_s=5)
        self.status = Status.closed


@atexit.register
def _stop_open_clusters() -> None:
    for cluster in list(ClusterLifecycle._open):
        cluster._stop_at_exit()


def _dask(view: ClusterView) -> DaskView:
    if view["dask"] is None:
        raise ClusterFailedError(f"Cluster {view['number']} has no Dask scheduler.", code="NOT_DASK")
    return view["dask"]

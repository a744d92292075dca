"""How the object of a cluster lives: created or found, connected, kept alive, ended. Whatever ends it early, a cluster that
it has created is asked to stop; should that fail, the server ends it by the cluster's own timeouts."""

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
from collections.abc import Generator
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from dask.utils import parse_timedelta
from distributed import Security, rpc
from distributed.core import Status
from distributed.deploy.cluster import Cluster as DaskCluster

from ropewalk.errors import ClusterFailedError, ClusterTimeoutError, RopewalkError
from ropewalk.remote import Remote
from ropewalk.security import make_security
from ropewalk.versions import version_trouble
from ropewalk.views import ClusterView, DaskView
from ropewalk.waiting import WorkerAmount, check_alive, count_of, is_settled, progress

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger("distributed.ropewalk")

DEFAULT_TIMEOUT_S = 600.0
KEEPALIVE_EVERY_S = 30.0
#: A view may be older than a `scale` of ours, by no more than this.
_VIEW_LAG_S = 10.0


class ClusterLife(DaskCluster):
    _open: ClassVar[weakref.WeakSet[ClusterLife]] = weakref.WeakSet()

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
    ) -> None:
        self._remote = remote
        self._body = body
        self._amount = amount
        self._timeout_s = timeout_s
        self._keepalive_s = keepalive_s
        self.shutdown_on_close = shutdown_on_close
        self.security: Security | None = None
        # Until the server has said that it is new: what may be somebody's is not stopped.
        self._existed = True
        #: A number of workers that was asked for, and when.
        self._asked: tuple[int, float] | None = None
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
            # Ctrl-C comes here while the loop still works: what has been created is stopped before the loop is.
            with contextlib.suppress(Exception):
                self.sync(self._give_up, callback_timeout=15)
            self._loop_runner.stop()
            raise

    @property
    def number(self) -> int | None:
        """By which the API and `ropewalk cluster get` know it."""
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
        created = await self._remote.find_or_create(self._body, deadline)
        self.name, self._existed = created["name"], created["existing"]
        if self.shutdown_on_close is None:
            self.shutdown_on_close = not self._existed
        self._log(f"{'Using' if self._existed else 'Created'} cluster {self.number} ({self.name})")
        for warning in created["warnings"]:
            self._log(f"Note: {warning}")
        if (price := created.get("pricePerHour")) is not None:
            self._log(f"It costs ${price['firstChoice']:.2f} to ${price['max']:.2f} an hour while all its instances run")
        if not self._existed:
            self._asked = (self._body["workers"], time.monotonic())
        view = await self._wait_for_scheduler(deadline)
        if self._existed and self._body["workers"] != _dask(view)["workersWanted"]:
            self._log(f"It has {_dask(view)['workersWanted']} workers, not {self._body['workers']}: scale it to change that.")
        await self._connect(deadline)
        if self._keepalive_s is not None:
            await self._set_keepalive(self._keepalive_s, deadline)
        await self._wait_for_workers(self._amount, deadline - time.monotonic())

    async def _wait_for_scheduler(self, deadline: float) -> ClusterView:
        pause, said = 0.1, ""
        while True:
            view = await self._remote.view(deadline)
            check_alive(view)
            if view["dask"] is not None and view["dask"]["schedulerAddress"] is not None:
                return view
            if progress(view) != said:
                said = progress(view)
                self._log(f"Cluster {self.number}: {said}")
            if time.monotonic() > deadline:
                raise self._too_late("its scheduler", said)
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
            # Dask has read what the scheduler was told of its cluster, by whoever connected before.
            self.name = name
            trouble = version_trouble(await self.scheduler_comm.versions())
        except (OSError, asyncio.TimeoutError) as error:
            raise RopewalkError(
                f"The scheduler of cluster {self.number} at {address} cannot be reached from here: {error}",
                code="SCHEDULER_UNREACHABLE",
                hint="The cluster may have ended, or a firewall stands between.",
            ) from error
        if trouble is not None:
            warnings.warn(trouble, stacklevel=2)

    async def _wait_for_workers(self, n_workers: WorkerAmount = 0, timeout: Any = None) -> None:
        if n_workers is False or n_workers == 0:
            return
        deadline = time.monotonic() + (DEFAULT_TIMEOUT_S if timeout is None else parse_timedelta(timeout))
        said, looked, view = "", -math.inf, None
        while True:
            # The scheduler knows first that they have come, the server alone that they cannot.
            started = len(self.scheduler_info["workers"])
            if self._asked is not None and started >= count_of(n_workers, self._asked[0]):
                return
            if view is None or time.monotonic() - looked > 1:
                view, looked = await self._remote.view(deadline), time.monotonic()
                check_alive(view)
                if progress(view) != said:
                    said = progress(view)
                    self._log(f"Cluster {self.number}: {said}")
            wanted = _dask(view)["workersWanted"]
            if self._asked is not None and time.monotonic() < self._asked[1] + _VIEW_LAG_S:
                wanted = self._asked[0]
            else:
                self._asked = None
            needed = count_of(n_workers, wanted)
            started = len(self.scheduler_info["workers"])
            if started >= needed or is_settled(view, wanted, needed, started):
                return
            if time.monotonic() > deadline:
                raise self._too_late(f"{needed} workers", said)
            await asyncio.sleep(0.05)

    async def _set_keepalive(self, seconds: float, until: float = math.inf) -> None:
        self._keepalive_s = seconds
        await self._remote.keepalive(seconds, until)
        if self._keeping is not None:
            self._keeping.cancel()
        self._keeping = asyncio.ensure_future(self._keep_alive(seconds))

    async def _keep_alive(self, seconds: float) -> None:
        is_troubled = False
        while True:
            await asyncio.sleep(min(KEEPALIVE_EVERY_S, seconds / 3))
            try:
                await self._remote.keepalive(seconds)
                is_troubled = False
            except RopewalkError as error:
                if error.code in ("CONFLICT", "NOT_FOUND"):
                    logger.info("Cluster %s has ended, so that it is no longer kept alive.", self.number)
                    return
                if not is_troubled:
                    logger.warning("Cluster %s may end, for it was not kept alive: %s", self.number, error)
                is_troubled = True

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
        """Once, and to the end: also when whoever asked for it no longer waits."""
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
                    rest = "its idle timeout ends it"
                    logger.warning("Cluster %s was not told to stop, so that %s: %s", self.number, rest, error)
        await super()._close()
        self._open.discard(self)

    def _status_while_ending(self) -> Status:
        """The scheduler may end before the API has said that it will: by this status clients know not to reconnect."""
        return Status.closing if self.status == Status.running else self.status

    def _log(self, log: str) -> None:
        """On stderr: what a program prints is its own."""
        self._cluster_manager_logs.append((datetime.now(), log))
        if not self.quiet:
            print(log, file=sys.stderr)

    def _too_late(self, what: str, said: str) -> ClusterTimeoutError:
        return ClusterTimeoutError(f"Cluster {self.number} did not have {what} in time: {said}.", code="TIMEOUT")

    def _stop_at_exit(self) -> None:
        """The event loop may have ended, and the threads of `asyncio.to_thread` have."""
        if self.status == Status.closed:
            return
        if self.shutdown_on_close and self.number is not None:
            with contextlib.suppress(Exception):
                self._remote.stop_now(timeout_s=5)
        self.status = Status.closed


@atexit.register
def _stop_open_clusters() -> None:
    for cluster in list(ClusterLife._open):
        cluster._stop_at_exit()


def _dask(view: ClusterView) -> DaskView:
    if view["dask"] is None:
        raise ClusterFailedError(f"Cluster {view['number']} has no Dask.", code="NOT_DASK")
    return view["dask"]

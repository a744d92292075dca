"""The waits of a cluster object: for its scheduler, then its workers; and its progress reports."""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
import time
import warnings
from datetime import datetime
from typing import Any

from dask.utils import parse_timedelta
from distributed.deploy.cluster import Cluster as DaskCluster

from ropewalk.errors import ClusterFailedError, ClusterTimeoutError
from ropewalk.log_records import logger
from ropewalk.missing_modules import send_hints
from ropewalk.package_sync.options import PackageSyncOptions
from ropewalk.panel import ClusterWidget
from ropewalk.plans import price_range
from ropewalk.printable import clean_lines
from ropewalk.program import warn_program
from ropewalk.remote import Remote
from ropewalk.reuse import differences
from ropewalk.views import ClusterView, Created, DaskView
from ropewalk.waiting import WorkerAmount, check_alive, count_of, failures, is_settled, pause_after, progress

DEFAULT_TIMEOUT_S = 600.0
#: A view can be older than a preceding `scale` by at most this.
_VIEW_LAG_S = 10.0
#: An environment of hundreds of packages takes minutes: an unchanged line looks like a hanging process.
_REPEAT_S = 30.0
_INSTEAD = "take another name, or shut the cluster down first"
_SLOW_START = "`timeout` allows more time; the method `why` and `get_logs` say more about it."


class WaitingCluster(DaskCluster):
    _remote: Remote
    #: Whether progress is written as log records.
    _logs_records = False
    #: Shows the start; None for lines of text, and after the start.
    _start_widget: ClusterWidget | None = None
    #: Shown to the caller when the start is complete, because the event loop's thread knows no line of the program.
    _warnings: list[str]
    #: With `asynchronous=True` the coroutine of the program waits for the start.
    _warns_at_once: bool
    #: A requested number of workers, and the time of the request.
    _requested: tuple[int, float] | None

    @property
    def number(self) -> int | None:
        """The cluster's number in the API and the command line."""
        return self._remote.number

    async def _wait_for_scheduler(self, deadline: float) -> ClusterView:
        reported, limit = "", deadline - time.monotonic()
        begun = since = said = time.monotonic()
        while True:
            view = await self._remote.view(deadline)
            self._show(view)
            check_alive(view)
            if view["status"] == "waiting":
                # An approval has a time limit of its own.
                deadline = time.monotonic() + limit
            if view["dask"] is not None and view["dask"]["schedulerAddress"] is not None:
                return view
            now = time.monotonic()
            if progress(view) != reported:
                reported, since, said = progress(view), now, now
                self._log_progress(reported)
            elif now - said >= _REPEAT_S:
                said = now
                self._log_progress(f"{reported}, for {round(now - since)} s")
            if now > deadline:
                raise self._too_late("its scheduler", reported, view)
            await asyncio.sleep(pause_after(now - begun))

    async def _wait_for_workers(self, n_workers: WorkerAmount = 0, timeout: Any = None) -> None:
        if n_workers is False or n_workers == 0:
            return
        deadline = time.monotonic() + _seconds_of_wait(timeout)
        reported, viewed, view = "", -math.inf, None
        while True:
            # The scheduler is the first to know connected workers; only the server knows failed ones.
            started = len(self.scheduler_info["workers"])
            if self._requested is not None and started >= count_of(n_workers, self._requested[0]):
                return
            if view is None or time.monotonic() - viewed > 1:
                view, viewed = await self._remote.view(deadline), time.monotonic()
                self._show(view)
                check_alive(view)
                if progress(view) != reported:
                    reported = progress(view)
                    self._log_progress(reported)
            wanted = dask_of(view)["workersWanted"]
            if self._requested is not None and time.monotonic() < self._requested[1] + _VIEW_LAG_S:
                wanted = self._requested[0]
            else:
                self._requested = None
            needed = count_of(n_workers, wanted)
            started = len(self.scheduler_info["workers"])
            if started >= needed or is_settled(view, wanted, needed, started):
                if started < wanted and view["status"] != "ready":
                    self._log_progress(f"{started} of {wanted} workers are enough to begin; the others join when they have started")
                return
            if time.monotonic() > deadline:
                raise self._too_late(f"{needed} workers", reported, view)
            await asyncio.sleep(0.05)

    def _report_found(self, created: Created, existed: bool) -> None:
        self._log(f"{'Using' if existed else 'Created'} cluster {self.number} ({created['name']})")
        for warning in created["warnings"]:
            self._log(f"Note: {warning}")
        if (price := created.get("pricePerHour")) is not None:
            self._log(f"It costs {price_range(price)} per hour while all its instances run")

    async def _report_differences(self, options: PackageSyncOptions | None) -> None:
        """The user's code does not reach an existing cluster: without this line, the first sign is a
        ModuleNotFoundError."""
        if options is None:
            return
        differ = await differences(self.scheduler_comm, options)
        if differ is not None:
            text = f"Cluster {self.number} keeps the environment that it was started with, and yours differs: {differ.text}."
            self._log(f"{text} Code that needs yours fails there: {_INSTEAD}.")
            kept = f"Cluster {self.number} keeps the environment that it was started with, which does not have"
            hints = {name: f"{kept} {what}: {_INSTEAD}." for name, what in differ.missing.items()}
            # The scheduler may refuse plugins; the line above has the same information.
            with contextlib.suppress(OSError, ValueError, asyncio.TimeoutError):
                await send_hints(self.scheduler_comm, hints)

    def _warn(self, text: str) -> None:
        self._warnings.append(text)
        if self._warns_at_once:
            self._warn_caller()

    def _warn_caller(self) -> None:
        texts, self._warnings = self._warnings, []
        for text in texts:
            warn_program(text)

    def _show(self, view: ClusterView) -> None:
        if self._start_widget is None:
            return
        try:
            self._start_widget.update(view)
        except Exception as error:
            # A failed widget must not fail the cluster.
            self._start_widget = None
            warnings.warn(f"The widget failed, progress continues in lines: {error!r}", stacklevel=2)

    async def _show_end(self, deadline: float) -> None:
        if self._start_widget is not None:
            self._show(await self._remote.view(deadline))

    def _end_widget(self) -> None:
        """The panel shows only the start; afterwards the object's own repr shows the cluster."""
        widget, self._start_widget = self._start_widget, None
        if widget is not None:
            widget.stop()

    def _log_progress(self, reported: str) -> None:
        if self._start_widget is None:
            self._log(f"Cluster {self.number}: {reported}")
        else:
            self._cluster_manager_logs.append((datetime.now(), f"Cluster {self.number}: {reported}"))

    def _log(self, log: str) -> None:
        """Writes to stderr, because stdout belongs to the program."""
        log = clean_lines(log)
        self._cluster_manager_logs.append((datetime.now(), log))
        if self.quiet:
            return
        if self._logs_records:
            logger.info(log)
        else:
            print(log, file=sys.stderr)

    def _too_late(self, what: str, reported: str, view: ClusterView) -> ClusterTimeoutError:
        message = f"Cluster {self.number} did not have {what} in time: {reported}.{failures(view)}"
        return ClusterTimeoutError(message, code="TIMEOUT", hint=None if view["failures"] else _SLOW_START)


def _seconds_of_wait(timeout: Any) -> float:
    # parse_timedelta refuses the negative rest of an exceeded time limit.
    if timeout is None:
        return DEFAULT_TIMEOUT_S
    return float(timeout) if isinstance(timeout, (int, float)) else float(parse_timedelta(timeout))


def dask_of(view: ClusterView) -> DaskView:
    if view["dask"] is None:
        raise ClusterFailedError(f"Cluster {view['number']} has no Dask scheduler.", code="NOT_DASK")
    return view["dask"]

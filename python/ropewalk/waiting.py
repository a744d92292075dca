"""The number of workers to wait for, and whether a cluster's view shows that more can start. Pure."""

from __future__ import annotations

import math

from ropewalk.errors import ClusterFailedError
from ropewalk.views import ClusterView

WorkerAmount = bool | int | float
DEFAULT_AMOUNT = 0.3


def check_amount(amount: WorkerAmount) -> None:
    if isinstance(amount, bool) or (isinstance(amount, int) and amount >= 0):
        return
    if isinstance(amount, float) and 0 <= amount <= 1:
        return
    raise ValueError(
        f"wait for True (all), False (none), a whole number of workers, or a fraction from 0.0 to 1.0, not {amount!r}"
    )


def count_of(amount: WorkerAmount, wanted: int) -> int:
    if isinstance(amount, bool):
        return wanted if amount else 0
    return amount if isinstance(amount, int) else math.ceil(amount * wanted)


def pause_after(waited_s: float) -> float:
    """Seconds until the next request: a start is noticed late by at most a twentieth of its duration, or a second."""
    return min(1.0, max(0.1, waited_s / 20))


def check_alive(view: ClusterView) -> None:
    number, reason = view["number"], view["reason"]
    if view["job"] is not None:
        message = f"Cluster {number} runs the tasks of job {view['job']}: it has no Dask scheduler."
        raise ClusterFailedError(message, code="NOT_DASK")
    if view["status"] in ("stopping", "stopped", "error"):
        what = "is stopping" if view["status"] == "stopping" else "has ended"
        why = "." if reason is None else f": {reason['text']}"
        code = "STOPPED" if reason is None else reason["code"]
        reported = "" if reason is None else reason["text"]
        raise ClusterFailedError(f"Cluster {number} {what}{why}{failures(view, reported)}", code=code)


def is_settled(view: ClusterView, wanted: int, needed: int, started: int) -> bool:
    """Whether no more workers can start although fewer than needed have. Raises when waiting cannot help."""
    dask, number = view["dask"], view["number"]
    if dask is None or view["status"] != "ready" or dask["workersWanted"] != wanted:
        return False
    if dask["adaptive"] is not None and dask["adaptive"]["maximum"] >= needed:
        return False
    if needed > wanted:
        message = f"Cluster {number} has {wanted} workers, fewer than {needed}."
        raise ClusterFailedError(message, code="NOT_ENOUGH_WORKERS", hint="Scale it first.")
    if dask["workersStarted"] == 0:
        message = f"Cluster {number} has no worker: all {wanted} failed to start.{failures(view)}"
        raise ClusterFailedError(message, code="NO_WORKERS")
    # The workers that the cluster has counted are connected, or about to be.
    return started >= dask["workersStarted"]


def progress(view: ClusterView) -> str:
    """One display line."""
    dask, reason = view["dask"], view["reason"]
    if view["status"] == "waiting":
        return "waiting" if reason is None else reason["text"]
    if dask is None or dask["schedulerAddress"] is None:
        head = next((one["process"] for one in view["instances"] if one["role"] == "head"), None)
        return "waiting for the scheduler" if head is None else f"scheduler {head['state']} ({head['stage']})"
    failed = f", {dask['workersErrored']} failed" if dask["workersErrored"] else ""
    return f"{dask['workersStarted']} of {dask['workersWanted']} workers{failed}"


def failures(view: ClusterView, reported: str = "") -> str:
    """Failures that are not in `reported`, one per line."""
    return "".join(f"\n  {one['count']} x {one['code']}: {one['text']}" for one in view["failures"] if one["text"] not in reported)

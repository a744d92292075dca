"""A notebook that a command follows: rounds of the sync, until the user stops it or the cluster ends."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ropewalk.client_api import ClientApi, is_temporary
from ropewalk.errors import RopewalkError
from ropewalk.notebook import start, state
from ropewalk.notebook.contents import JupyterFiles, Unavailable
from ropewalk.notebook.local import ChangedMeanwhile, LocalFiles
from ropewalk.notebook.sync import Round, Sync
from ropewalk.waiting import check_alive

ROUND_S = 3.0
_CHECK_S = 10.0
#: Limit of an outage during the first and the last sync.
_OUTAGE_S = 60.0
_RETRY_S = 1.0


def make_sync(
    api: ClientApi, number: int, directory: Path, ignored: Sequence[str], say: Callable[[str], None]
) -> Sync:
    def link() -> str:
        # The rounds retry it.
        return str(api.request("POST", f"/v1/clusters/{number}/jupyter-link", retry_for_s=0)["url"])

    file = state.state_file(api.url, number, directory)
    return Sync(LocalFiles(directory, ignored), JupyterFiles(link, ignored), file, say)


def follow(api: ClientApi, number: int, sync: Sync | None, say: Callable[[str], None], is_ending: Callable[[], bool]) -> None:
    """Returns when `is_ending`. Raises ClusterFailedError with the reason when the cluster ends. Survives outages."""
    trouble, checked = "", time.monotonic()
    while not is_ending():
        began = time.monotonic()
        try:
            if began - checked > _CHECK_S:
                checked = began
                check_alive(start.read(api, number, retry_for_s=0))
            said = "" if sync is None else _emptied(sync.round())
            if said != trouble:
                say(said or "It goes on.")
            trouble = said
        except (Unavailable, ChangedMeanwhile, RopewalkError) as error:
            if isinstance(error, RopewalkError) and error.code != "SYNC_FAILED" and not is_temporary(error):
                check_alive(start.read(api, number))
                raise
            # Jupyter may be unavailable because the cluster has ended.
            checked = -math.inf
            if not trouble and not isinstance(error, ChangedMeanwhile):
                trouble = f"The {'sync' if sync is not None else 'command'} waits: {_text(error)}"
                say(trouble)
        # Listing many directories is slow, so rounds take at most half of the time.
        _pause(max(ROUND_S, time.monotonic() - began), is_ending)


def sync_all(sync: Sync, *, is_last: bool) -> Round:
    """Syncs until both sides are equal, through an outage. Raises RopewalkError SYNC_FAILED when that is
    impossible; the last sync also for files that cannot be synced, which are deleted with the server."""
    until = time.monotonic() + _OUTAGE_S
    while True:
        try:
            done = sync.settle()
            if not is_last or (done.left == 0 and not done.failed and done.emptied != "here"):
                return done
            if done.emptied == "here":
                raise RopewalkError(_emptied(done), code="SYNC_FAILED")
            why = "; ".join(f"{path}: {text}" for path, text in done.failed.items()) or f"{done.left} files are being written"
        except (Unavailable, ChangedMeanwhile) as error:
            why = _text(error)
        except RopewalkError as error:
            if not is_temporary(error):
                raise
            why = error.message.rstrip(".")
        if time.monotonic() > until:
            raise RopewalkError(f"The {'last ' if is_last else ''}sync failed: {why}.", code="SYNC_FAILED")
        time.sleep(_RETRY_S)


def _emptied(done: Round) -> str:
    if done.emptied is None:
        return ""
    where, other = ("here", "on the server") if done.emptied == "here" else ("on the server", "here")
    return f"All files are gone {where}. Nothing is removed {other}: remove them {other} too if that is meant."


def _text(error: Exception) -> str:
    return error.message if isinstance(error, RopewalkError) else str(error)


def _pause(seconds: float, is_ending: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not is_ending() and time.monotonic() < until:
        time.sleep(0.1)

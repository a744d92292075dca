"""Lines that may be followed. A followed answer outlives a lost connection: it is asked for again, and what was already given
is left out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlencode

from ropewalk.client_api import ClientApi, is_passing
from ropewalk.errors import RopewalkError

logger = logging.getLogger("ropewalk")

PAUSE_S = 0.5
#: Lines of different keys may come this much out of order.
_OVERLAP = timedelta(seconds=60)

Line = dict[str, Any]


def follow_lines(
    api: ClientApi,
    path: str,
    query: dict[str, str],
    *,
    key_of: Callable[[Line], object],
    follow: bool,
    resumes: bool,
) -> Iterator[Line]:
    """Lines of equal keys always come in the same order, whatever the connection. `resumes`: a later connection need not
    begin at the start."""
    seen = _Seen(key_of)
    # A job that has printed nothing yet is known too, once the API has answered.
    is_known = False

    def note_open() -> None:
        nonlocal is_known
        is_known = True

    while True:
        resume_at = seen.resume_at() if resumes else None
        asked = {**query, "follow": "true" if follow else "false"}
        if resume_at is not None:
            asked["since"] = max(resume_at, query.get("since", ""))
        seen.restart()
        try:
            for line in api.stream(f"{path}?{urlencode(asked)}", on_open=note_open):
                if seen.is_new(line):
                    yield line
            return
        except RopewalkError as error:
            if not follow or not is_known or not is_passing(error):
                raise
            logger.warning("Still trying: %s", error)
            time.sleep(PAUSE_S)


@dataclass
class _Position:
    at: str
    #: Lines given with exactly this time, and how many of them the connection at hand has repeated.
    count: int = 1
    repeated: int = 1


class _Seen:
    """What was given already. Lines of one key always come in the same order: a place in it is enough."""

    def __init__(self, key_of: Callable[[Line], object]) -> None:
        self._key_of = key_of
        self._positions: dict[object, _Position] = {}
        self._newest = ""
        self._connections = 0

    def is_new(self, line: Line) -> bool:
        at: str = line["at"]
        position = self._positions.get(self._key_of(line))
        if position is None or at > position.at:
            self._positions[self._key_of(line)] = _Position(at)
            self._newest = max(self._newest, at)
            return True
        if at < position.at:
            # Nothing is left out of the first connection, whatever a clock that was set back makes of the times.
            return self._connections == 1
        position.repeated += 1
        if position.repeated <= position.count:
            return False
        position.count = position.repeated
        return True

    def restart(self) -> None:
        self._connections += 1
        for position in self._positions.values():
            position.repeated = 0

    def resume_at(self) -> str | None:
        if not self._newest:
            return None
        return iso_of(datetime.fromisoformat(self._newest.replace("Z", "+00:00")) - _OVERLAP)


def iso_of(time_of_day: datetime) -> str:
    """As the API writes times; one without a time zone is local."""
    return time_of_day.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

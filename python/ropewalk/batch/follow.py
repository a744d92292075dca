"""Lines of NDJSON, followed on request. When the connection of a followed answer is lost, the request is repeated, and lines that
were already yielded are skipped."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from ropewalk.client_api import ClientApi, is_temporary
from ropewalk.errors import RopewalkError
from ropewalk.times import iso_of

logger = logging.getLogger("ropewalk")

PAUSE_S = 0.5
#: Lines of different keys can be out of order by this much.
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
    """Lines of the same key come in the same order in every connection. `resumes`: a later connection can start shortly before
    the newest line."""
    seen = _Seen(key_of)
    # Once the API has answered, the job is known, even before its first line.
    is_known = False

    def note_open() -> None:
        nonlocal is_known
        is_known = True

    while True:
        resume_at = seen.resume_at() if resumes else None
        parameters = {**query, "follow": "true" if follow else "false"}
        if resume_at is not None:
            parameters["since"] = max(resume_at, query.get("since", ""))
        seen.restart()
        try:
            for line in api.stream(f"{path}?{urlencode(parameters)}", on_open=note_open):
                if seen.is_new(line):
                    yield line
            return
        except RopewalkError as error:
            if not follow or not is_known or not is_temporary(error):
                raise
            logger.warning("Retrying: %s", error.message)
            time.sleep(PAUSE_S)


@dataclass
class _Position:
    at: str
    #: Lines yielded with exactly this time, and how many of them the current connection has repeated.
    count: int = 1
    repeated: int = 1


class _Seen:
    """The lines already yielded. Lines of one key come in a fixed order, so one position per key is enough."""

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
            # The first connection skips nothing, even when a clock that was set back puts times out of order.
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

"""Times in the API's format."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from ropewalk.durations import Duration, seconds_of

#: An age like "10m" or 600, or a time.
Since = Duration | datetime


def iso_of(time: datetime) -> str:
    """A time without a time zone is local."""
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_since(since: Since | None, now: datetime | None = None) -> str | None:
    """An age counts back from `now`. Raises ValueError naming the argument."""
    if since is None or isinstance(since, datetime):
        return None if since is None else iso_of(since)
    return iso_of((datetime.now(timezone.utc) if now is None else now) - timedelta(seconds=seconds_of(since, "since")))

"""Parses durations as Dask does."""

from __future__ import annotations

import math
from datetime import timedelta

from dask.utils import parse_timedelta

Duration = str | int | float | timedelta


def seconds_of(duration: Duration, argument: str) -> float:
    """Seconds of "20 minutes", "5m" or 90. Raises ValueError naming the argument."""
    try:
        seconds = float(parse_timedelta(duration))
    except (ValueError, KeyError, TypeError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(f'{argument} is {duration!r}: write it like "20 minutes", "90s", or as seconds above 0')
    return seconds

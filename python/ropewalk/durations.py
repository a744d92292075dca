"""Durations as people write them: the meaning is Dask's."""

from __future__ import annotations

import math
from datetime import timedelta

from dask.utils import parse_timedelta

Duration = str | int | float | timedelta


def seconds_of(duration: Duration, argument: str) -> float:
    """Of "20 minutes", "5m" or 90; raises ValueError that names the argument."""
    try:
        seconds = float(parse_timedelta(duration))
    except (ValueError, KeyError, TypeError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(f'{argument} is {duration!r}: write it like "20 minutes", "90s", or as seconds above 0')
    return seconds

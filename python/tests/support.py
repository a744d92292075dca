"""Shared by several test files."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ropewalk

#: The fixture `start`.
Start = Callable[..., ropewalk.Cluster]


def eventually(is_so: Callable[[], Any], within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, "it did not become so in time"
        time.sleep(0.02)

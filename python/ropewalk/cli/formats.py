"""Tables, times and amounts on a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ropewalk.printable import clean

#: A title, and `<`, `>` or `^`: left, right or center.
Column = tuple[str, str]


def format_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> str:
    cells = [[clean(" ".join(cell.split("\n")).replace("\t", " ")) for cell in row] for row in rows]
    widths = [max(len(title), *(len(row[at]) for row in cells)) if cells else len(title) for at, (title, _) in enumerate(columns)]

    def border(left: str, fill: str, between: str, right: str) -> str:
        return left + between.join(fill * (width + 2) for width in widths) + right

    def line(side: str, texts: Sequence[str]) -> str:
        padded = [_pad(text, width, column[1]) for text, width, column in zip(texts, widths, columns)]
        return side + side.join(f" {text} " for text in padded) + side

    return "\n".join(
        [
            border("┏", "━", "┳", "┓"),
            line("┃", [title for title, _ in columns]),
            border("┡", "━", "╇", "┩"),
            *(line("│", row) for row in cells),
            border("└", "─", "┴", "┘"),
        ]
    )


def _pad(text: str, width: int, align: str) -> str:
    missing = width - len(text)
    before = {"<": 0, ">": missing, "^": missing // 2}[align]
    return " " * before + text + " " * (missing - before)


def time_of(iso: str) -> datetime:
    """In the local time zone."""
    return datetime.fromisoformat(iso.replace("Z", "+00:00")).astimezone()


def format_time(iso: str | None) -> str:
    """`2024-11-18 17:25:08`; empty for None."""
    return "" if iso is None else f"{time_of(iso):%Y-%m-%d %H:%M:%S}"


def format_log_time(iso: str) -> str:
    """`2025-07-09 16:50:37.844000`, as in Coiled."""
    return f"{time_of(iso):%Y-%m-%d %H:%M:%S.%f}"


def format_span(start: str | None, end: str | None) -> str:
    """`12.3 s`, `3 m 20 s`, `2 h 5 m` between two times; empty while one of them is unknown."""
    if start is None or end is None:
        return ""
    seconds = max(0.0, (time_of(end) - time_of(start)).total_seconds())
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = math.floor(seconds + 0.5)
    if whole < 3_600:
        return f"{whole // 60} m {whole % 60} s"
    minutes = math.floor(whole / 60 + 0.5)
    return f"{minutes // 60} h {minutes % 60} m"


def format_dollars(dollars: float) -> str:
    """`$0.01`; a smaller positive amount is `<$0.01`."""
    return "<$0.01" if 0 < dollars < 0.01 else f"${dollars:.2f}"


def format_task_cost(cost: Mapping[str, Any] | None) -> str:
    """The cost of one task, which is often less than a cent: `$0.0012`. Empty before it has run."""
    if cost is None:
        return ""
    dollars = cost["dollars"]
    return "<$0.0001" if 0 < dollars < 0.0001 else f"${dollars:.4f}"


def format_cost(cost: Mapping[str, Any] | None) -> str:
    """The cost of a job or cluster: empty until it has had an instance."""
    return "" if cost is None else format_dollars(cost["dollars"])

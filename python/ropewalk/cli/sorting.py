"""The order of rows of a table: --sort COLUMN, or several columns with commas."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ropewalk.cli.options import Parsed

SortKeys = Mapping[str, Callable[[Any], Any]]


def sort_type(columns: Collection[str]) -> Parsed:
    """Of an option. In lower case, each column with a "-" before it for the reverse."""
    listed = ", ".join(columns)

    def parse(text: str) -> str:
        names = [name.strip() for name in text.lower().replace("tasks done", "done").split(",")]
        if any(name.removeprefix("-") not in columns for name in names):
            raise ValueError
        return ",".join(names)

    return Parsed(parse, f'Give one of {listed}, or several with commas, with a "-" before one for the reverse.')


def sort_by(rows: Sequence[Any], sort: str, keys: SortKeys) -> list[Any]:
    """Rows that are equal keep their order."""
    ordered = [*rows]
    for name in reversed(sort.split(",")):
        ordered.sort(key=keys[name.removeprefix("-")], reverse=name.startswith("-"))
    return ordered

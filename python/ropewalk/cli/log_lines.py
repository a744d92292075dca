"""Selects and orders log lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ropewalk.cli.session import output
from ropewalk.printable import clean

#: Maximum lines that are sorted together; further lines keep the server's order, which is sorted within each task.
_MAX_ORDERED = 500_000


def print_lines(lines: Iterable[Any], flags: dict[str, Any], as_text: Callable[[Any], str]) -> None:
    """Prints the lines that the flags select, in the order of their times unless they are followed."""
    pattern = flags["pattern"]
    for line in lines if flags["follow"] else _in_time_order(lines):
        if pattern is not None and pattern.search(line["text"]) is None:
            continue
        if flags["output_format"] == "json":
            output.json(line, indent=None)
        else:
            output.out(_FORMATS.get(flags["output_format"], as_text)(line))


def _short(line: Any) -> str:
    return f"{line['at'][:19]} {clean(line['text'])}"


def _detailed(line: Any) -> str:
    stream = line["instance"] if line["task"] is None else f"{line['instance']}/task-{line['task']}"
    return f"{line['at'][:23]}000+00:00 {stream} {clean(line['text'])}"


#: Those of `aws logs tail`, with times in UTC; a task's stream is below that of its instance.
_FORMATS: dict[str, Callable[[Any], str]] = {"short": _short, "detailed": _detailed}


def _in_time_order(lines: Iterable[Any]) -> Iterator[Any]:
    """Lines of one task keep their order where their times are equal."""
    held: list[Any] = []
    try:
        for line in lines:
            held.append(line)
            if len(held) >= _MAX_ORDERED:
                yield from sorted(held, key=lambda one: one["at"])
                held = []
    except GeneratorExit:
        raise
    except BaseException:
        # Includes the lines before a lost connection.
        yield from sorted(held, key=lambda one: one["at"])
        raise
    yield from sorted(held, key=lambda one: one["at"])

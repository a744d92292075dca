"""`batch why` and `cluster why`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ropewalk.cli.session import output
from ropewalk.cli.terminal import one_line
from ropewalk.views import WhyFact

_TITLES = {"state": "State", "size": "Size", "instanceType": "Instances", "end": "End"}


def show_why(why: Mapping[str, Any], output_format: str) -> None:
    """One line per sentence; the title once per topic."""
    if output_format == "json":
        output.json(why)
        return
    before, lines = None, []
    for sentence in why["sentences"]:
        title = "" if sentence["about"] == before else _TITLES[sentence["about"]]
        lines.append(f"{title:<10} {one_line(sentence['text'])}{_events_of(sentence['facts'])}")
        before = sentence["about"]
    output.out("\n".join(lines))


def _events_of(facts: list[WhyFact]) -> str:
    """` (events #3, #17)`: the numbers of the cluster's events."""
    numbers = sorted({number for fact in facts for number in fact["events"]})
    if not numbers:
        return ""
    return f" ({'event' if len(numbers) == 1 else 'events'} {', '.join(f'#{number}' for number in numbers)})"


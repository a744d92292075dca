"""Plans on a terminal: the planned instances, the order of attempts, and the price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ropewalk.cli.formats import Column, format_table

_TYPE_COLUMNS: list[Column] = [
    ("type", "<"),
    ("vCPU", ">"),
    ("memory", ">"),
    ("GPU", "<"),
    ("processor", "<"),
    ("$/h", ">"),
    ("$/h spot", ">"),
    ("zones", "<"),
]
_MORE = "public addresses are included, disks and traffic are extra"


def format_price(price: Mapping[str, Any]) -> str:
    """`$1.92 per hour with the first choice, at most $3.84`"""
    first, highest = price["firstChoice"], price["max"]
    if first is None:
        return "unknown: no table has the price of the first choice in this region"
    if highest is None:
        return f"{_dollars(first)} per hour with the first choice; that of others is unknown"
    if first == highest:
        return f"{_dollars(highest)} per hour"
    return f"{_dollars(first)} per hour with the first choice, at most {_dollars(highest)}"


def format_plan(plan: Mapping[str, Any]) -> str:
    """For a job, whose first instance is its head."""
    head, workers = plan["head"], plan["workers"]
    if not plan["prices"]:
        what = _counted(head["count"] + workers["count"], "instance")
        return f"Would run {what} with the provider {plan['provider']}, which has one kind of machine. It costs nothing."
    alone = workers["count"] == 0
    rows = _rows(head, "head") + ([] if alone else _rows(workers, _counted(workers["count"], "worker")))
    together = "" if plan["allowCrossZone"] or len(plan["zones"]) == 1 or alone else "; all instances in one of them"
    markets = "" if alone else f"; workers {', then '.join(workers['markets'])}"
    spans = "" if alone else f"head {_span(head['pricePerHour'])}, workers {_span(workers['pricePerHour'])}; "
    sources = "; ".join(f"{one['market']} from {one['source']}, {one['asOf']}" for one in plan["prices"])
    return "\n".join(
        [
            format_table([("in order of attempts", "<"), *_TYPE_COLUMNS], rows),
            *([] if plan["region"] is None else [f"Region:  {plan['region']}"]),
            f"Zones:   {', '.join(plan['zones'])}{together}",
            f"Markets: head on-demand{markets}",
            f"Disks:   {plan['diskGib']} GiB each",
            f"Price:   {format_price(plan['pricePerHour'])}",
            f"         {spans}{_MORE}",
            f"Prices:  {sources}",
            "Nothing was launched.",
        ]
    )


def _rows(role: Mapping[str, Any], name: str) -> list[list[str]]:
    return [["" if at else name, *_cells(one)] for at, one in enumerate(role["types"])]


def _cells(one: Mapping[str, Any]) -> Sequence[str]:
    return [
        one["type"],
        str(one["vcpus"]),
        f"{one['memoryBytes'] / 2**30:.1f} GiB",
        "" if one["gpus"] == 0 else f"{one['gpus']} {one['gpuName'] or ''}".strip(),
        one["architecture"],
        _price(one["pricePerHour"]),
        _price(one["spotPricePerHour"]),
        ", ".join(one["zones"]),
    ]


def _price(dollars: float | None) -> str:
    return "-" if dollars is None else f"{dollars:.4f}"


def _span(price: Mapping[str, Any]) -> str:
    first, highest = price["firstChoice"], price["max"]
    return _dollars(highest) if first == highest else f"{_dollars(first)} to {_dollars(highest)}"


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.{4 if amount < 1 else 2}f}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

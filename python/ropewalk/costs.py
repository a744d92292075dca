"""Costs of the workspace's instances."""

from __future__ import annotations

from typing import Literal, TypedDict, cast
from urllib.parse import urlencode

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config

Grouping = Literal["user", "tag", "job", "cluster", "day", "type"]


class Amounts(TypedDict):
    #: US dollars: the price at each instance's launch, by the second, with a minimum of one minute.
    dollars: float
    instanceHours: float
    instances: int
    #: Of the instances that currently exist.
    dollarsPerHour: float


class CostLine(Amounts):
    #: A user, the number of a job or cluster, a day in UTC, or an instance type with its market.
    key: str
    name: str | None


class Costs(TypedDict):
    by: Grouping
    since: str
    until: str
    items: list[CostLine]
    total: Amounts
    priceSources: list[str]


def costs(
    by: Grouping = "user",
    *,
    since: str | None = None,
    user: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> Costs:
    """Costs in US dollars, including ended clusters and jobs. `since`: an RFC 3339 time, or an age; 30 days by
    default.

    Examples
    --------
    >>> ropewalk.costs(by="day", since="7 days")["total"]["dollars"]
    12.34
    """
    given = {"by": by, "since": since, "user": user}
    query = urlencode({name: value for name, value in given.items() if value is not None})
    return cast(Costs, ClientApi(load_config(api_url, token)).request("GET", f"/v1/costs?{query}"))

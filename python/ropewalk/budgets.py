"""Budgets of the workspace: dollars that a workspace, a user, a cluster or a job may cost."""

from __future__ import annotations

from typing import Literal, TypedDict, cast
from urllib.parse import quote

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config

Period = Literal["run", "day", "month"]
Action = Literal["warn", "refuse", "stop"]


class Budget(TypedDict):
    name: str
    dollars: float
    period: Period
    user: str | None
    cluster: int | None
    job: int | None
    warnAtPercent: int
    action: Action
    #: In the current period; for a budget per run, by the most expensive open one.
    spentDollars: float
    dollarsPerHour: float
    level: Literal["ok", "warned", "exceeded"]
    periodEndsAt: str | None
    countedAt: str | None


def budgets(*, api_url: str | None = None, token: str | None = None) -> list[Budget]:
    """All budgets of the workspace, with their usage."""
    answer = ClientApi(load_config(api_url, token)).request("GET", "/v1/budgets")
    return cast(list[Budget], answer["items"])


def set_budget(
    name: str,
    dollars: float,
    *,
    period: Period = "month",
    user: str | None = None,
    cluster: int | None = None,
    job: int | None = None,
    warn_at_percent: int = 80,
    action: Action = "refuse",
    api_url: str | None = None,
    token: str | None = None,
) -> Budget:
    """Creates or replaces a budget; for admins. Without `user`, `cluster` and `job` it is the workspace's.

    Parameters
    ----------
    period: "run" counts each cluster or job separately, from its start; days and months are in UTC.
    action: when the budget is used up: "warn" only creates an event, "refuse" prevents launches, "stop" ends
        running clusters and jobs.

    Examples
    --------
    >>> ropewalk.set_budget("ml-team", 500, period="month")["level"]
    'ok'
    """
    given = {"user": user, "cluster": cluster, "job": job}
    body = {
        "dollars": dollars,
        "period": period,
        "warnAtPercent": warn_at_percent,
        "action": action,
        **{key: value for key, value in given.items() if value is not None},
    }
    api = ClientApi(load_config(api_url, token))
    return cast(Budget, api.request("PUT", f"/v1/budgets/{quote(name, safe='')}", body))


def remove_budget(name: str, *, api_url: str | None = None, token: str | None = None) -> Budget:
    """Removes and returns a budget; for admins."""
    api = ClientApi(load_config(api_url, token))
    return cast(Budget, api.request("DELETE", f"/v1/budgets/{quote(name, safe='')}"))

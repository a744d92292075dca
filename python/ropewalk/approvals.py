"""Approvals before spend: an admin approves or rejects a start."""

from __future__ import annotations

from typing import Literal, TypedDict, cast

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config


class Approval(TypedDict):
    #: Number of the job or cluster.
    number: int
    kind: Literal["job", "cluster"]
    name: str
    user: str
    why: str
    #: The maximum; None when a price is unknown.
    dollarsPerHour: float | None
    #: The maximum; None without a limit.
    dollars: float | None
    state: Literal["pending", "approved", "rejected", "expired", "withdrawn"]
    askedAt: str
    expiresAt: str
    decidedAt: str | None
    decidedBy: str | None
    comment: str | None


def approvals(*, all: bool = False, api_url: str | None = None, token: str | None = None) -> list[Approval]:
    """Jobs and clusters that wait for the approval of an admin, newest first; with `all` also the decided ones."""
    query = "" if all else "&state=pending"
    answer = ClientApi(load_config(api_url, token)).request("GET", f"/v1/approvals?limit=1000{query}")
    return cast(list[Approval], answer["items"])


def approve(
    number: int, *, comment: str | None = None, api_url: str | None = None, token: str | None = None
) -> Approval:
    """Lets a job or cluster start; for admins. An admin approves their own only where the workspace allows it.

    Examples
    --------
    >>> for waiting in ropewalk.approvals():
    ...     ropewalk.approve(waiting["number"])
    """
    return _decide(number, "approve", comment, api_url, token)


def reject(number: int, *, comment: str | None = None, api_url: str | None = None, token: str | None = None) -> Approval:
    """Ends a job or cluster that waits for an approval; for admins. The comment becomes its reason."""
    return _decide(number, "reject", comment, api_url, token)


def _decide(
    number: int,
    verb: Literal["approve", "reject"],
    comment: str | None,
    api_url: str | None,
    token: str | None,
) -> Approval:
    body = {} if comment is None else {"comment": comment}
    return cast(Approval, ClientApi(load_config(api_url, token)).request("POST", f"/v1/approvals/{number}/{verb}", body))

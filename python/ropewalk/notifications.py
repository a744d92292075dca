"""Notifications of the workspace."""

from __future__ import annotations

from typing import Any, TypedDict, cast

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config


class Notification(TypedDict):
    id: int
    #: For example job.failed or cluster.ready.
    type: str
    #: The job or cluster, for example job/12.
    object: str
    text: str
    data: dict[str, Any]
    at: str


def get_notifications(limit: int = 20, *, api_url: str | None = None, token: str | None = None) -> list[Notification]:
    """The newest notifications of the workspace, newest first: jobs and clusters that ended, failed or became ready. They are kept
    for 30 days.

    Examples
    --------
    >>> ropewalk.get_notifications(limit=1)[0]["text"]
    'Job 12 (train) has failed: 1 of 10 tasks failed'
    """
    api = ClientApi(load_config(api_url, token))
    return cast("list[Notification]", api.request("GET", f"/v1/notifications?limit={limit}")["items"])

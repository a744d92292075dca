"""The workspace's core usage and limits."""

from __future__ import annotations

from typing import TypedDict

from ropewalk.batch.paths import connect
from ropewalk.workspaces import workspace_name


class CoreUsage(TypedDict):
    """Cores are vCPUs of instances that exist or are being launched."""

    workspace: str
    used: int
    #: Of the whole workspace.
    limit: int
    #: Limit of each user without an own one; None: only the workspace's limit applies.
    user_limit: int | None
    #: In use, by user.
    users: dict[str, int]


def list_core_usage(
    account: str | None = None, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None
) -> CoreUsage:
    """Cores in use, in total and by user, with the limits. `account` is the old name of `workspace`.

    Examples
    --------
    >>> ropewalk.list_core_usage()["used"]
    24
    """
    found = connect(api_url, token, workspace_name(workspace, account)).request("GET", "/v1/workspace")
    return {
        "workspace": found["slug"],
        "used": found["use"]["vcpus"],
        "limit": found["limits"]["vcpus"],
        "user_limit": found["perUser"].get("vcpus"),
        "users": {one["name"]: one["use"]["vcpus"] for one in found["users"]},
    }

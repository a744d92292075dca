"""Paths of the API for jobs, and pages of lists."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config
from ropewalk.errors import RopewalkError
from ropewalk.workspaces import refuse_other

_PAGE = 1_000


def connect(api_url: str | None, token: str | None, workspace: str | None = None) -> ClientApi:
    """Raises RopewalkError when the token belongs to another workspace than `workspace`."""
    api = ClientApi(load_config(api_url, token))
    if workspace is not None:
        refuse_other(api.request("GET", "/v1/whoami")["workspace"], workspace)
    return api


def job_path(api: ClientApi, job: int | str, rest: str = "") -> str:
    return f"/v1/jobs/{_number_of(api, job)}{rest}"


def _number_of(api: ClientApi, job: int | str) -> int:
    """Digits are always a number, even when a name consists of digits."""
    if isinstance(job, bool) or not isinstance(job, (int, str)):
        raise TypeError(f"job is {job!r}: give its number or its name")
    if isinstance(job, int) or job.isdecimal():
        return int(job)
    # The newest job of that name: at most one of them is open, and it is the newest.
    found = api.request("GET", f"/v1/jobs?{urlencode({'name': job, 'limit': 1})}")["items"]
    if not found:
        hint = "ropewalk.batch.list_jobs() shows the newest jobs."
        raise RopewalkError(f"No job has the name {job}.", code="NOT_FOUND", hint=hint, status=404)
    return int(found[0]["number"])


def pages(api: ClientApi, path: str, limit: int | None, filters: dict[str, str] | None = None) -> list[Any]:
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}: give at least 1")
    items: list[Any] = []
    after: str | None = None
    while True:
        size = _PAGE if limit is None else min(_PAGE, limit - len(items))
        query: dict[str, str | int] = {**(filters or {}), "limit": size}
        page = api.request("GET", f"{path}?{urlencode(query if after is None else {**query, 'after': after})}")
        items += page["items"]
        after = page["next"]
        if after is None or (limit is not None and len(items) >= limit):
            return items

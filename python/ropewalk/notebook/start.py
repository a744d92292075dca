"""Starts the cluster of a notebook, or finds the open one of its name, and waits for its Jupyter server."""

from __future__ import annotations

import asyncio
import getpass
import hashlib
import os
import platform
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ropewalk.batch.paths import pages
from ropewalk.client_api import ClientApi
from ropewalk.errors import ClusterTimeoutError, RopewalkError
from ropewalk.remote import Remote
from ropewalk.views import ClusterView, DashboardLink
from ropewalk.waiting import check_alive, progress

#: Name prefix of notebooks' clusters, by which they are listed.
PREFIX = "notebook-"
_ENDING = ("stopping", "stopped", "error")
_POLL_S = 0.5
_JUPYTER = re.compile(r"jupyterlab\s*(?![\w.-])")


@dataclass(frozen=True)
class StartedNotebook:
    number: int
    #: Without the prefix.
    name: str
    existing: bool


def cluster_name(name: str) -> str:
    return name if name.startswith(PREFIX) else f"{PREFIX}{name}"


def short_name(cluster: str) -> str:
    return cluster.removeprefix(PREFIX)


def default_name(directory: Path) -> str:
    """A default name for this user and directory: the next start in the directory finds the same notebook."""
    place = f"{getpass.getuser()}@{platform.node()}:{directory.resolve()}"
    words = re.sub(r"[^a-zA-Z0-9]+", "-", directory.resolve().name).strip("-").lower()[:40] or "files"
    return f"{words}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:6]}"


def find(api: ClientApi, name: str) -> ClusterView | None:
    """The open notebook of this name. Raises RopewalkError when it is another user's, because only its creator may
    use Jupyter."""
    found = pages(api, "/v1/clusters", 1, {"name": cluster_name(name), "open": "true"})
    if not found:
        return None
    view = cast(ClusterView, found[0])
    if view["user"] != api.request("GET", "/v1/whoami")["user"]:
        hint = "Choose another name."
        raise RopewalkError(f"The notebook {name} is {view['user']}'s.", code="NAME_TAKEN", hint=hint)
    return view


def list_notebooks(api: ClientApi) -> list[ClusterView]:
    found = pages(api, "/v1/clusters", None, {"q": PREFIX, "open": "true", "kind": "dask"})
    return [one for one in found if one["name"].startswith(PREFIX)]


def create(api: ClientApi, name: str, body: Mapping[str, Any], say: Callable[[str], None], until: float) -> StartedNotebook:
    """`until` (time.monotonic) limits the wait for a notebook of this name that is still ending."""
    made = asyncio.run(Remote(api).find_or_create({**body, "name": cluster_name(name), "jupyter": True}, until))
    for warning in made["warnings"]:
        say(f"Note: {warning}")
    return StartedNotebook(made["number"], name, made["existing"])


def is_usable(view: ClusterView | None) -> bool:
    return view is not None and view["status"] not in _ENDING


def with_jupyterlab(software: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Adds jupyterlab to package sync's result when it is missing; returns whether it did."""
    has_wheel = any(file["name"].startswith("jupyterlab-") for file in software.get("packageFiles", []))
    listed = [one for one in software["requirements"] if _JUPYTER.match(one) and ";" not in one]
    if has_wheel or listed:
        return dict(software), False
    # An entry with a marker is one that package sync excludes.
    kept = [one for one in software["requirements"] if not _JUPYTER.match(one)]
    return {**software, "requirements": [*kept, "jupyterlab>=4"]}, True


def wait_for_jupyter(api: ClientApi, number: int, show: Callable[[str], None], until: float) -> None:
    """Raises ClusterFailedError with the reason when the cluster ends, ClusterTimeoutError when it has not started in time."""
    limit = until - time.monotonic()
    while True:
        view = read(api, number)
        check_alive(view)
        if view["status"] == "waiting":
            # An approval has a time limit of its own.
            until = time.monotonic() + limit
        if view["dask"] is not None and view["dask"]["schedulerAddress"] is not None:
            return
        show(progress(view))
        if time.monotonic() > until:
            hint = "It goes on starting: give the same command again."
            raise ClusterTimeoutError(f"The notebook has not started in time: {progress(view)}.", code="TIMEOUT", hint=hint)
        time.sleep(_POLL_S)


def read(api: ClientApi, number: int, *, retry_for_s: float | None = None) -> ClusterView:
    return cast(ClusterView, api.request("GET", f"/v1/clusters/{number}", retry_for_s=retry_for_s))


def link(api: ClientApi, number: int) -> DashboardLink:
    """The link signs its opener in, and is valid for minutes."""
    return cast(DashboardLink, api.request("POST", f"/v1/clusters/{number}/jupyter-link"))


def stop(api: ClientApi, number: int) -> None:
    try:
        api.request("POST", f"/v1/clusters/{number}/stop")
    except RopewalkError as error:
        # The notebook has ended meanwhile.
        if error.code not in ("CONFLICT", "NOT_FOUND"):
            raise

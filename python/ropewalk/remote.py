"""Requests about one cluster over HTTP, independent of Dask."""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from typing import Any, cast
from urllib.parse import quote, urlencode

from ropewalk.client_api import ClientApi
from ropewalk.errors import ClusterTimeoutError, RopewalkError
from ropewalk.field_names import as_arguments, in_arguments
from ropewalk.views import ClusterView, Created, Credentials, DashboardLink, Event, LogLine, Why
from ropewalk.workspaces import refuse_other

_ENDING = ("stopping", "stopped", "error")


class Remote:
    def __init__(self, api: ClientApi, workspace: str | None = None) -> None:
        self.api = api
        self._workspace = workspace
        #: None until it has been created or found.
        self.number: int | None = None
        #: Ids of the scheduler's instances, for its log. The view of an ended cluster has no instances.
        self.heads: set[str] = set()

    async def check_workspace(self, until: float) -> None:
        """Raises RopewalkError FORBIDDEN when the token belongs to another workspace than the wanted one."""
        if self._workspace is not None:
            refuse_other((await self.api.get("/v1/whoami", until=until))["workspace"], self._workspace)

    async def user(self, until: float) -> str:
        """The token's user."""
        return str((await self.api.get("/v1/whoami", until=until))["user"])

    async def find(self, name: str | None, until: float) -> Created | None:
        """The open, usable cluster of that name."""
        if name is None:
            return None
        page = await self.api.get(f"/v1/clusters?name={quote(name, safe='')}&open=true", until=until)
        for one in page["items"]:
            if one["job"] is None and one["status"] not in _ENDING:
                self.number = one["number"]
                return {"number": one["number"], "name": one["name"], "existing": True, "warnings": []}
        return None

    async def find_or_create(self, body: dict[str, Any], deadline: float) -> Created:
        """`existing` is true when an open cluster of that name existed before."""
        while True:
            created = await self._create_or_find(body, deadline)
            self.number = created["number"]
            if not created["existing"] or (await self.view(deadline))["status"] not in _ENDING:
                return created
            # An ending cluster keeps its name until it has ended, and cannot be used.
            if time.monotonic() > deadline:
                message = f"Cluster {created['number']} is still ending and keeps the name {created['name']!r} until then."
                raise ClusterTimeoutError(message, code="NAME_TAKEN", field="name")
            self.number = None
            await asyncio.sleep(0.5)

    async def _create_or_find(self, body: dict[str, Any], until: float) -> Created:
        # First without existing clusters: `existing` would also be true when a lost earlier attempt of this request created it.
        try:
            created = await self._create({**body, "getOrCreate": False}, until)
            return {**created, "existing": False}
        except RopewalkError as error:
            if error.code != "NAME_TAKEN" or "name" not in body:
                raise in_arguments(error) from None
        return await self._create({**body, "getOrCreate": True}, until)

    async def _create(self, body: dict[str, Any], until: float) -> Created:
        key = str(uuid.uuid4())
        created = cast(Created, await self.api.post("/v1/clusters", body, idempotency_key=key, until=until))
        return {**created, "warnings": [as_arguments(warning) for warning in created["warnings"]]}

    async def view(self, until: float = math.inf) -> ClusterView:
        view = cast(ClusterView, await self.api.get(self._path(), until=until))
        self.heads.update(one["id"] for one in view["instances"] if one["role"] == "head")
        return view

    def view_now(self) -> ClusterView:
        """Blocks, and needs no event loop."""
        return cast(ClusterView, self.api.request("GET", self._path()))

    async def credentials(self, until: float) -> Credentials:
        return cast(Credentials, await self.api.get(self._path("/credentials"), until=until))

    async def jupyter(self) -> DashboardLink:
        return cast(DashboardLink, await self.api.post(self._path("/jupyter-link")))

    async def dashboard(self) -> DashboardLink:
        return cast(DashboardLink, await self.api.post(self._path("/dashboard-link")))

    async def why(self) -> Why:
        return cast(Why, await self.api.get(self._path("/why")))

    def why_now(self) -> Why:
        """Blocks, and needs no event loop."""
        return cast(Why, self.api.request("GET", self._path("/why")))

    async def logs(self, since: str | None = None) -> list[LogLine]:
        query = "" if since is None else f"?since={quote(since, safe='')}"
        return cast("list[LogLine]", await self.api.lines(self._path(f"/logs{query}")))

    async def events(self, query: dict[str, str]) -> list[Event]:
        return cast("list[Event]", await self.api.lines(self._events_path(query)))

    def events_now(self, query: dict[str, str]) -> list[Event]:
        """Blocks, and needs no event loop."""
        return cast("list[Event]", list(self.api.stream(self._events_path(query))))

    async def scale(self, workers: int) -> None:
        await self.api.post(self._path("/scale"), {"workers": workers})

    async def adapt(self, bounds: dict[str, Any]) -> None:
        await self.api.post(self._path("/adapt"), bounds)

    async def keepalive(self, timeout_s: float, until: float = math.inf) -> None:
        await self.api.post(self._path("/keepalive"), {"timeout": timeout_s}, until=until)

    async def stop(self) -> None:
        await self.api.post(self._path("/stop"))

    def stop_now(self, timeout_s: float) -> None:
        """Blocks; see ClientApi.post_once."""
        self.api.post_once(self._path("/stop"), timeout_s=timeout_s)

    def page(self) -> str:
        """The URL that redirects browsers signed in to the web application to the dashboard."""
        return f"{self.api.url}/clusters/{self.number}/dashboard"

    def _events_path(self, query: dict[str, str]) -> str:
        return self._path(f"/events?{urlencode(query)}" if query else "/events")

    def _path(self, rest: str = "") -> str:
        if self.number is None:
            raise RopewalkError("The cluster has not been created yet.", code="NOT_YET", hint="Await the cluster first.")
        return f"/v1/clusters/{self.number}{rest}"

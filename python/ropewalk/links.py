"""Addresses of a cluster in a browser."""

from __future__ import annotations

from typing import Any

from distributed.core import Status

from ropewalk.errors import RopewalkError
from ropewalk.lifecycle import ClusterLifecycle


class LinkedCluster(ClusterLifecycle):
    @property
    def dashboard_link(self) -> str:
        """The permanent URL of the dashboard, for browsers that are signed in to Ropewalk; also valid in a saved
        notebook. `get_dashboard_link` creates a link that signs its opener in."""
        if self.number is None or self.status == Status.closed:
            return ""
        return self._remote.page()

    @property
    def details_url(self) -> str:
        """The page of the cluster in the web application."""
        return "" if self.number is None else self._remote.page().removesuffix("/dashboard")

    @property
    def cluster_id(self) -> int | None:
        """`number`, by Coiled's name of it."""
        return self.number

    def get_dashboard_link(self) -> Any:
        """A link to the dashboard that signs its opener in, and is valid for minutes."""
        return self.sync(self._dashboard_link)

    @property
    def jupyter_link(self) -> str:
        """A link to the Jupyter server of a cluster that was started with `jupyter=True`. It signs its opener in, and is valid for
        minutes: it allows running code on the cluster. With `asynchronous=True` await `get_jupyter_link()`."""
        if self.asynchronous:
            raise RopewalkError("jupyter_link is a request.", code="ASYNCHRONOUS", hint="Await get_jupyter_link() instead.")
        return str(self.get_jupyter_link())

    def get_jupyter_link(self) -> Any:
        """Like `jupyter_link`; awaitable with `asynchronous=True`."""
        return self.sync(self._jupyter_link)

    async def _dashboard_link(self) -> str:
        return (await self._remote.dashboard())["url"]

    async def _jupyter_link(self) -> str:
        return (await self._remote.jupyter())["url"]

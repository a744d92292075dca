"""Keeps a cluster with a keepalive limit open while its object is."""

from __future__ import annotations

import asyncio
import math

from ropewalk.cluster_waits import WaitingCluster
from ropewalk.errors import RopewalkError
from ropewalk.log_records import logger

KEEPALIVE_EVERY_S = 30.0


class KeptCluster(WaitingCluster):
    _keepalive_s: float | None
    _keeping: asyncio.Task[None] | None

    async def _set_keepalive(self, seconds: float, until: float = math.inf) -> None:
        self._keepalive_s = seconds
        await self._remote.keepalive(seconds, until)
        if self._keeping is not None:
            self._keeping.cancel()
        self._keeping = asyncio.ensure_future(self._keep_alive(seconds))

    async def _keep_alive(self, seconds: float) -> None:
        is_failing = False
        while True:
            await asyncio.sleep(min(KEEPALIVE_EVERY_S, seconds / 3))
            try:
                await self._remote.keepalive(seconds)
                is_failing = False
            except RopewalkError as error:
                if error.code in ("CONFLICT", "NOT_FOUND"):
                    logger.info("Cluster %s has ended: keepalives stop.", self.number)
                    return
                if not is_failing:
                    logger.warning("Cluster %s can end, because a keepalive failed: %s", self.number, error)
                is_failing = True

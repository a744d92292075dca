"""Where the workers of a cluster share one machine, their memory limits never add up to more than its memory.

Each worker starts with its share by the number of workers that the cluster was started for. When more join, all limits are
lowered to the machine's memory divided by their number, and raised again when workers leave.
"""

import asyncio
import logging
import os

import cloudpickle
from distributed.system import MEMORY_LIMIT

logger = logging.getLogger("distributed.ropewalk")


class MemoryShares:
    def __init__(self, scheduler, on_limit):
        self.scheduler = scheduler
        #: Called with the address of a worker that has a new limit.
        self.on_limit = on_limit
        self.is_shared = os.environ.get("ROPEWALK_SHARES_MEMORY") == "1"
        #: The initial limit of each worker, by name: after a restart by its nanny a worker has the lowered one.
        self.first = {}
        self.task = None
        self.is_due = False

    def changed(self):
        """Called when workers join or leave."""
        if not self.is_shared:
            return
        self.is_due = True
        if self.task is None or self.task.done():
            self.task = asyncio.ensure_future(self.share())

    async def share(self):
        while self.is_due:
            self.is_due = False
            workers = list(self.scheduler.workers.values())
            for ws in workers:
                first = self.first.setdefault(str(ws.name), ws.memory_limit)
                limit = min(first, MEMORY_LIMIT // len(workers))
                # 0 means no limit.
                if ws.memory_limit and limit != ws.memory_limit:
                    await self.limit(ws, limit)

    async def limit(self, ws, limit):
        message = {
            "op": "run",
            "function": cloudpickle.dumps(limit_setter(limit)),
            "args": cloudpickle.dumps(()),
            "kwargs": cloudpickle.dumps({}),
            "wait": True,
        }
        try:
            for nanny in [True, False] if ws.nanny else [False]:
                answers = await self.scheduler.broadcast(msg=message, workers=[ws.address], nanny=nanny)
                if any(answer.get("status") != "OK" for answer in answers.values()):
                    raise RuntimeError("it refused its new memory limit")
            ws.memory_limit = limit
            self.on_limit(ws.address)
        except Exception as error:
            # The worker is leaving, or its class has no such limit; the next change retries.
            logger.info("The memory limit of %s stays: %s", ws.address, error)


def limit_setter(limit):
    """Runs on workers and nannies. Pickled by value, because they do not have this file."""

    def set_limit(dask_worker):
        dask_worker.memory_manager.memory_limit = limit

    return set_limit

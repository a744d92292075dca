"""The agent's orders for the Dask scheduler on its instance; ropewalk_preload.py receives them.

It must never log an order's environment variables. It uses some of the scheduler's internals, so it is tested
against more than one version of distributed.
"""

import asyncio
import logging
import time

import cloudpickle
from distributed.core import Status
from distributed.diagnostics.plugin import WorkerPlugin
from ropewalk_jupyter import start_jupyter

logger = logging.getLogger("distributed.ropewalk")

#: Number of outcomes kept; the oldest are removed first.
MAX_DRAINED_KEPT = 10_000


class Orders:
    """The orders, one method per kind."""

    def __init__(self, scheduler, jupyter):
        self.scheduler = scheduler
        self.jupyter = jupyter
        self.env = {}
        self.drains = {}
        #: An agent that lost the answer repeats the order, and gets the same answer.
        self.drained = {}
        #: Parameters of adaptive scaling; the defaults are the control plane's.
        self.target_duration_s = 180.0
        self.interval_s = 5.0

    async def order_adaptive(self, order):
        self.target_duration_s = float(order["targetDurationSeconds"])
        self.interval_s = float(order["intervalSeconds"])
        return {}

    async def order_startJupyter(self, order):
        # Runs once, because an agent that lost the answer repeats the order.
        if self.jupyter.app is None:
            try:
                self.jupyter.app = start_jupyter(self.scheduler, order["root"], order["token"])
            except ImportError as error:
                return {"missing": str(error)}
        return {}

    async def order_drain(self, order):
        until = time.monotonic() + order["deadlineSeconds"]
        known, outcomes, waits, fresh = self.by_name(), {}, {}, []
        for name in order["workers"]:
            ws = known.get(name)
            if ws is None:
                outcomes[name] = "drained" if name in self.drained else "unknown"
                continue
            drain = self.drains.get(ws.address)
            if drain is None:
                drain = self.drains[ws.address] = Drain()
                fresh.append((ws, drain))
            # The newest order wins: an interrupted instance cannot wait for the old deadline.
            drain.until = until
            waits[name] = drain
        # Marks all of them as closing before any data moves, or one leaving worker would get another's data.
        for ws, _ in fresh:
            self.scheduler.handle_worker_status_change(Status.closing_gracefully, ws, f"ropewalk-drain-{time.time()}")
        for ws, drain in fresh:
            drain.task = asyncio.ensure_future(self.drain(ws, drain))
        for name, drain in waits.items():
            outcomes[name] = await drain.task
        return {"workers": outcomes}

    async def order_retire(self, order):
        known = self.by_name()
        found = {name: known[name].address for name in order["workers"] if name in known}
        gone = await self.scheduler.retire_workers(workers=list(found.values()), close_workers=True, remove=True)
        return {
            "workers": {
                name: "unknown" if name not in found else "retired" if found[name] in gone else "kept"
                for name in order["workers"]
            }
        }

    async def order_resume(self, order):
        known = self.by_name()
        return {
            "workers": {
                name: "resumed" if name in known and await self.resume(known[name]) else "unknown"
                for name in order["workers"]
            }
        }

    async def order_setEnv(self, order):
        plugin = env_plugin({**self.env, **order["env"]})
        # Applied here first, so that invalid variables fail now instead of on the workers.
        plugin.setup(self.scheduler)
        self.env = plugin.values
        # Dask keeps a worker plugin for future workers; the same name replaces the previous one.
        await self.scheduler.register_worker_plugin(
            None, cloudpickle.dumps(plugin), name="ropewalk-env", idempotent=False
        )
        return {}

    async def order_workersToClose(self, order):
        names = self.scheduler.workers_to_close(n=order["n"], attribute="name")
        return {"workers": [str(name) for name in names]}

    async def order_ping(self, order):
        # The answer itself is the result.
        return {}

    async def order_closeAll(self, order):
        # The scheduler closes its workers when it closes, after this answer is sent.
        return {}

    def by_name(self):
        return {str(ws.name): ws for ws in self.scheduler.workers.values()}

    def is_here(self, ws):
        return self.scheduler.workers.get(ws.address) is ws

    async def drain(self, ws, drain):
        leaving = asyncio.ensure_future(self.leave(ws))
        pushing = asyncio.ensure_future(self.push_unstarted(ws))
        try:
            while not leaving.done():
                if time.monotonic() >= drain.until:
                    # The worker stays closed to new work until it is ended, drained again, or resumed.
                    leaving.cancel()
                    await asyncio.wait({leaving})
                    return "deadline" if self.is_here(ws) else "unknown"
                await asyncio.wait({leaving}, timeout=max(0.01, min(0.2, drain.until - time.monotonic())))
            return leaving.result()
        except Exception:
            logger.exception("Draining %s failed; it is kept.", ws.address)
            return "kept" if await self.resume(ws) else "unknown"
        finally:
            pushing.cancel()
            del self.drains[ws.address]

    async def leave(self, ws):
        """Moves data first and once more at the end, because tasks that run meanwhile leave their results here."""
        if not await self.move_data(ws, close=False):
            return "kept" if await self.resume(ws) else "unknown"
        while self.is_here(ws) and ws.processing:
            await asyncio.sleep(0.05)
        if not self.is_here(ws):
            return "unknown"
        if not await self.move_data(ws, close=True):
            return "kept" if await self.resume(ws) else "unknown"
        self.drained[str(ws.name)] = True
        if len(self.drained) > MAX_DRAINED_KEPT:
            del self.drained[next(iter(self.drained))]
        return "drained"

    async def move_data(self, ws, close):
        return ws.address in await self.scheduler.retire_workers([ws.address], close_workers=close, remove=close)

    async def push_unstarted(self, ws):
        """Steals the leaving worker's queue. A leaving worker starts no task, and Dask's own stealing leaves a
        short queue in place until the deadline. The worker refuses to give away running tasks."""
        try:
            stealing = self.scheduler.extensions["stealing"]
            while self.is_here(ws):
                for ts in list(ws.processing):
                    takers = self.takers(ts)
                    if takers:
                        taker = min(takers, key=lambda other: len(other.processing) / max(1, other.nthreads))
                        stealing.move_task_request(ts, ws, taker)
                await asyncio.sleep(0.5)
        except Exception:
            logger.exception("Cannot move what waits at %s; it is closed at the deadline.", ws.address)

    def takers(self, ts):
        running, valid = self.scheduler.running, self.scheduler.valid_workers(ts)
        if valid is None or (ts.loose_restrictions and not valid & running):
            return running
        return valid & running

    async def resume(self, ws):
        if self.is_here(ws) and ws.status == Status.closing_gracefully:
            stimulus = f"ropewalk-resume-{time.time()}"
            self.scheduler.stream_comms[ws.address].send(
                {"op": "worker-status-change", "status": Status.running.name, "stimulus_id": stimulus}
            )
            until = time.monotonic() + 5
            while self.is_here(ws) and ws.status == Status.closing_gracefully and time.monotonic() < until:
                await asyncio.sleep(0.02)
        return self.is_here(ws)


class Drain:
    """The drain of one worker."""

    until = 0.0
    task = None


def env_plugin(env):
    """A worker plugin that sets variables; None unsets one."""

    # Defined inside the function so that it is pickled by value: workers do not have this file.
    class RopewalkEnv(WorkerPlugin):
        def __init__(self, values):
            self.values = values

        def setup(self, worker):
            import os

            for name, value in self.values.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    return RopewalkEnv(dict(env))

"""Connects a Dask scheduler with its instance's agent: `dask scheduler --preload ropewalk_preload.py`.

It connects to the unix socket in ROPEWALK_SCHEDULER_SOCKET, sends a hello message, sends the scheduler's state when
it has changed, and carries out the agent's orders. Messages are JSON lines; agent/dask/scheduler/messages.ts has
their shapes. It must never end a scheduler that has once started well.
"""

import asyncio
import json
import logging
import os
import sys
import time
import traceback

import dask
import distributed
from distributed.diagnostics.plugin import SchedulerPlugin
from ropewalk_jupyter import JupyterActivity
from ropewalk_memory import MemoryShares
from ropewalk_orders import Orders
from ropewalk_usage import Usage
from ropewalk_watchers import Watchers

logger = logging.getLogger("distributed.ropewalk")

DEBOUNCE_S = 0.25
#: Worker states and memory change without a hook.
LOOK_EVERY_S = 1.0
HEARTBEAT_S = 30.0
#: Reading the state may take at most this fraction (1/n) of the scheduler's time.
LOOK_SHARE = 20
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
#: An agent that does not read is disconnected, so that its messages do not fill the scheduler's memory.
MAX_UNREAD_BYTES = 32 * 1024 * 1024
ACTIVE = frozenset({"waiting", "queued", "processing", "no-worker"})
SHOWN = {"processing", "waiting", "queued", "memory", "erred", "no-worker"}


async def dask_setup(scheduler):
    # Dask would log our exception and run on without us, as a scheduler that the agent can neither see nor drain.
    try:
        link = Link(scheduler, os.environ["ROPEWALK_SCHEDULER_SOCKET"])
        link.look()
        scheduler.add_plugin(Watch(link), name="ropewalk")
        link.start()
    except BaseException:
        traceback.print_exc()
        print("Ropewalk's preload could not start, so this scheduler ends (exit code 3).", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(3)


class Watch(SchedulerPlugin):
    """Only notes that something happened: these hooks run for every transition."""

    def __init__(self, link):
        self.link = link

    def transition(self, key, start, finish, *args, **kwargs):
        self.link.changed = True
        self.link.usage.transition(self.link.scheduler, key, start, finish, kwargs)
        if start in ACTIVE or finish in ACTIVE:
            self.link.active_at = time.monotonic()

    def update_graph(self, *args, **kwargs):
        self.link.changed = True
        self.link.active_at = time.monotonic()

    def add_worker(self, scheduler, worker):
        self.link.changed = True
        self.link.memory.changed()

    def remove_worker(self, scheduler, worker, **kwargs):
        self.link.changed = True
        self.link.memory.changed()

    def add_client(self, scheduler, client):
        self.link.changed = True

    def remove_client(self, scheduler, client):
        self.link.changed = True

    async def before_close(self):
        await self.link.jupyter.close()


class Link:
    def __init__(self, scheduler, path):
        self.scheduler = scheduler
        self.path = path
        self.jupyter = JupyterActivity()
        self.usage = Usage()
        self.memory = MemoryShares(scheduler, Watchers(scheduler).changed)
        self.orders = Orders(scheduler, self.jupyter)
        self.writer = None
        self.changed = True
        self.active_at = time.monotonic()
        self.said = None
        self.judged = None
        self.tasks = set()

    def start(self):
        self.keep(self.stay_connected())
        self.keep(self.report_changes())

    def keep(self, coroutine):
        task = asyncio.ensure_future(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def stay_connected(self):
        """Retries forever: the agent may be restarted, and the scheduler's work does not depend on it."""
        pause = 0.1
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(self.path, limit=MAX_MESSAGE_BYTES)
            except OSError:
                await asyncio.sleep(pause)
                pause = min(2.0, pause * 2)
                continue
            pause = 0.1
            self.writer, self.said = writer, None
            self.send(self.hello())
            try:
                while line := await reader.readline():
                    self.keep(self.obey(line, writer))
            except (OSError, ValueError):
                logger.warning("The connection to Ropewalk's agent broke; trying again.")
            self.writer = None
            writer.close()
            await asyncio.sleep(pause)

    async def report_changes(self):
        looked = spoke = cost = 0.0
        is_troubled = False
        while True:
            await asyncio.sleep(max(DEBOUNCE_S, cost * LOOK_SHARE))
            now = time.monotonic()
            if self.writer is None or not (self.changed or self.said is None or now - looked >= LOOK_EVERY_S):
                continue
            self.changed = False
            looked = now
            try:
                state, essence = self.look()
            except Exception:
                # Ending the scheduler would not help the cluster's owner; the agent notices the silence.
                if not is_troubled:
                    logger.exception("Ropewalk cannot read the scheduler's state.")
                is_troubled = True
                continue
            is_troubled = False
            cost = time.monotonic() - now
            if essence != self.said or now - spoke >= HEARTBEAT_S:
                self.said, spoke = essence, now
                self.send(state)

    def send(self, message):
        if self.writer is None:
            return
        self.writer.write(json.dumps(message).encode() + b"\n")
        if self.writer.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.writer.transport.abort()

    def hello(self):
        s = self.scheduler
        return {
            "kind": "hello",
            "protocol": 1,
            "clockMs": int(time.monotonic() * 1000),
            "schedulerId": str(s.id),
            "address": s.address,
            "httpPort": getattr(getattr(s, "http_server", None), "port", None),
            "distributed": distributed.__version__,
            "dask": dask.__version__,
            "python": ".".join(str(part) for part in sys.version_info[:3]),
        }

    def look(self):
        """Returns the state, and the part whose changes are sent: memory always changes a little."""
        s = self.scheduler
        counts = dict.fromkeys(SHOWN, 0)
        # Counts of prefixes are cumulative; those of groups are current.
        for group in s.task_groups.values():
            for name in SHOWN:
                counts[name] += group.states.get(name, 0)
        has_work = any(counts[name] for name in ACTIVE) or getattr(s, "_active_graph_updates", 0) > 0
        if has_work or self.jupyter.is_busy(s):
            self.active_at, idle_since = time.monotonic(), None
        else:
            idle_since = int(max(self.active_at, self.jupyter.of(s)) * 1000)
        state = {
            "kind": "state",
            "tasks": {name.replace("-", "_"): count for name, count in counts.items()},
            "clients": sum(map(is_real_client, s.clients)),
            "idleSinceMs": idle_since,
            "adaptiveTarget": self.adaptive_target(),
        }
        sums, filled = self.usage.sums(), self.usage.memory(s)
        workers = [describe_worker(ws) for ws in s.workers.values()]
        memory = [
            {"memoryBytes": int(ws.metrics.get("memory", 0)), "managedBytes": int(ws.nbytes)}
            for ws in s.workers.values()
        ]
        shown = {**state, "usage": {**sums, **filled}, "workers": [{**w, **m} for w, m in zip(workers, memory)]}
        return shown, {**state, "usage": sums, "workers": workers}

    def adaptive_target(self):
        """Dask's own estimate, once per interval, and at once when its parameters have changed."""
        measure, now = (self.orders.target_duration_s, self.orders.interval_s), time.monotonic()
        if self.judged is None or self.judged[0] != measure or now - self.judged[1] >= measure[1]:
            self.judged = (measure, now, int(self.scheduler.adaptive_target(measure[0])))
        return self.judged[2]

    async def obey(self, line, writer):
        try:
            order = json.loads(line)
            kind, number = order["kind"], order["id"]
            obeyed = getattr(self.orders, "order_" + kind)
        except (ValueError, KeyError, TypeError, AttributeError):
            logger.warning("Ropewalk's agent sent a message that this preload does not understand.")
            return
        try:
            answer = {"ok": True, **await obeyed(order)}
        except Exception as error:
            # The error text may contain the order's content, and some orders are secret.
            shown = "" if kind == "setEnv" else f": {error}"
            answer = {"ok": False, "error": f"{type(error).__name__}{shown}"[:1000]}
            logger.warning("Ropewalk's order %s failed: %s", kind, answer["error"])
        # Answers only the requester: after a reconnect the order's number is unknown.
        if self.writer is writer:
            self.send({"kind": "answer", "id": number, **answer})
        if kind == "closeAll":
            await self.scheduler.close(reason="ropewalk-close-all")


def describe_worker(ws):
    return {
        "name": str(ws.name),
        "address": ws.address,
        "status": ws.status.name,
        "nthreads": ws.nthreads,
        "processing": len(ws.processing),
    }


def is_real_client(client_id):
    """Excludes Dask's placeholder client, and the client of a task on a worker that submits more."""
    return client_id != "fire-and-forget" and not client_id.startswith("Client-worker-")

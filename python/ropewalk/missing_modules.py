"""Hints for programs on an existing cluster found by name: the ModuleNotFoundError of a package that only the
client has contains the hint, in the exception that a client gets and in the log of the worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cloudpickle
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

_NAME = "ropewalk-missing-modules"


async def send_hints(scheduler: Any, hints: Mapping[str, str]) -> None:
    """`hints` by module name. `scheduler` is its rpc; workers that start later get them too."""
    for_scheduler, for_workers = _plugins(dict(hints))
    await scheduler.register_scheduler_plugin(plugin=cloudpickle.dumps(for_scheduler), name=_NAME, idempotent=False)
    await scheduler.register_worker_plugin(plugin=cloudpickle.dumps(for_workers), name=_NAME, idempotent=False)


def _plugins(hints: dict[str, str]) -> tuple[SchedulerPlugin, WorkerPlugin]:
    # Local functions and classes are pickled by value: this package is not installed on the cluster.
    def add_hints() -> None:
        import sys

        class Hints:
            ropewalk_missing: dict[str, str] = {}

            def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
                # importlib.util.find_spec only asks whether a module exists, and must get None.
                caller = sys._getframe(1).f_back
                if caller is None or caller.f_code.co_name != "_find_and_load_unlocked":
                    return
                if (hint := self.ropewalk_missing.get(name.partition(".")[0])) is not None:
                    raise ModuleNotFoundError(f"No module named {name!r}. {hint}", name=name)

        known = next((one for one in sys.meta_path if hasattr(one, "ropewalk_missing")), None)
        if known is None:
            # The last finder: Python asks it when no other one has found the module.
            known = Hints()
            sys.meta_path.append(known)
        # Hints of other clients stay, because their modules are missing too.
        known.ropewalk_missing.update(hints)

    class SchedulerHints(SchedulerPlugin):
        async def start(self, scheduler: Any) -> None:
            add_hints()

    class WorkerHints(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            add_hints()

    return SchedulerHints(), WorkerHints()

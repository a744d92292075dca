"""Environment variables that go from this process straight to the scheduler and its workers. They must reach no log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cloudpickle
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from ropewalk.errors import RopewalkError


def check_envs(env: Mapping[str, str]) -> dict[str, str]:
    """What no environment can hold fails here: on a worker it would fail with the value in its log."""
    for name, value in env.items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise ValueError(f"{name!r} is no name of an environment variable")
        if not isinstance(value, str) or "\0" in value:
            raise ValueError(f"the value of environment variable {name} is not a string without NUL")
    return dict(env)


async def send_envs(scheduler: Any, env: Mapping[str, str], name: str) -> None:
    """`scheduler` is its rpc; what was sent under `name` before is replaced for workers yet to come."""
    for_scheduler, for_workers = _plugins(dict(env))
    await scheduler.register_scheduler_plugin(plugin=cloudpickle.dumps(for_scheduler), name=name, idempotent=False)
    answers = await scheduler.register_worker_plugin(
        plugin=cloudpickle.dumps(for_workers), name=name, idempotent=False
    )
    failed = sum(answer.get("status") == "error" for answer in answers.values())
    if failed:
        message = f"The environment variables could not be set on {failed} of {len(answers)} workers."
        raise RopewalkError(message, code="PRIVATE_ENVS", hint="Workers that start later get them; send them again.")


def _plugins(values: dict[str, str]) -> tuple[SchedulerPlugin, WorkerPlugin]:
    # Classes made here are pickled whole: this package is not installed on the cluster.
    class SchedulerEnv(SchedulerPlugin):
        async def start(self, scheduler: Any) -> None:
            import os

            os.environ.update(values)

    class WorkerEnv(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            import os

            os.environ.update(values)

    return SchedulerEnv(), WorkerEnv()

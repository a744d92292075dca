"""Environment variables that this process sends directly to the scheduler and its workers. They must not reach a log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cloudpickle
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from ropewalk.errors import RopewalkError


def check_envs(env: Mapping[str, str]) -> dict[str, str]:
    """Refuses invalid variables here: on a worker they would fail with the value in its log."""
    for name, value in env.items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise ValueError(f"{name!r} is not a valid name of an environment variable")
        if not isinstance(value, str) or "\0" in value:
            raise ValueError(f"the value of environment variable {name} is not a string without NUL")
    return dict(env)


async def send_envs(scheduler: Any, env: Mapping[str, str | None], name: str) -> None:
    """`scheduler` is its rpc; None removes a variable. For future workers, variables sent earlier under `name` are
    replaced."""
    for_scheduler, for_workers = _plugins(dict(env))
    await scheduler.register_scheduler_plugin(plugin=cloudpickle.dumps(for_scheduler), name=name, idempotent=False)
    answers = await scheduler.register_worker_plugin(
        plugin=cloudpickle.dumps(for_workers), name=name, idempotent=False
    )
    failed = sum(answer.get("status") == "error" for answer in answers.values())
    if failed:
        message = f"The environment variables could not be set on {failed} of {len(answers)} workers."
        raise RopewalkError(message, code="PRIVATE_ENVS", hint="Send them again. Workers that start later get them.")


def _plugins(values: dict[str, str | None]) -> tuple[SchedulerPlugin, WorkerPlugin]:
    # Local functions and classes are pickled by value: this package is not installed on the cluster.
    def set_variables() -> None:
        import os

        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    class SchedulerEnv(SchedulerPlugin):
        async def start(self, scheduler: Any) -> None:
            set_variables()

    class WorkerEnv(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            set_variables()

    return SchedulerEnv(), WorkerEnv()

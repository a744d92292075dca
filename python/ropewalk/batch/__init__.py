"""Batch jobs: `ropewalk.batch.run` submits one, the others look at it. All of them block, and need no event loop."""

from ropewalk.batch.calls import cancel, events, list_jobs, logs, status, tasks, wait
from ropewalk.batch.submit import plan, run
from ropewalk.batch.views import CreatedJob, Job, JobEvent, Task, TaskLine

#: The same as `list_jobs`, by the name of the command.
list = list_jobs

# Without `list`, which a `from ropewalk.batch import *` would put before the builtin.
__all__ = [
    "CreatedJob",
    "Job",
    "JobEvent",
    "Task",
    "TaskLine",
    "cancel",
    "events",
    "list_jobs",
    "logs",
    "plan",
    "run",
    "status",
    "tasks",
    "wait",
]

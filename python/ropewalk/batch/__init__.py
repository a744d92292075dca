"""Batch jobs: `ropewalk.batch.run` submits a job; the other functions read and end jobs. All block, and need no event loop."""

from ropewalk.batch.calls import cancel, events, list_jobs, logs, status, tasks, wait
from ropewalk.batch.submit import plan, run
from ropewalk.batch.views import CreatedJob, Job, JobEvent, Task, TaskLine

#: An alias of `list_jobs`: the name of the command.
list = list_jobs

# Without `list`: `from ropewalk.batch import *` would shadow the builtin.
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

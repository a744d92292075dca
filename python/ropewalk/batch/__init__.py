"""Batch jobs: `ropewalk.batch.run` submits a job; the other functions read and end jobs. All block, and need no
event loop."""

from ropewalk.batch.calls import cancel, events, get, list_jobs, logs, retry, status, tasks, wait, wait_for_job_done, why
from ropewalk.batch.past import at, costs, task_states
from ropewalk.batch.planning import plan
from ropewalk.batch.schedules import (
    create_schedule,
    delete_schedule,
    get_schedule,
    list_schedules,
    pause_schedule,
    resume_schedule,
    trigger_schedule,
)
from ropewalk.batch.stored import download, list_files
from ropewalk.batch.submit import run
from ropewalk.batch.views import CreatedJob, Job, JobEvent, Task, TaskLine

#: An alias of `list_jobs`, named like the command.
list = list_jobs

# Without `list`: `from ropewalk.batch import *` would shadow the builtin.
__all__ = [
    "CreatedJob",
    "Job",
    "JobEvent",
    "Task",
    "TaskLine",
    "at",
    "cancel",
    "costs",
    "create_schedule",
    "delete_schedule",
    "download",
    "events",
    "get",
    "get_schedule",
    "list_files",
    "list_jobs",
    "list_schedules",
    "logs",
    "pause_schedule",
    "plan",
    "resume_schedule",
    "retry",
    "run",
    "status",
    "task_states",
    "tasks",
    "trigger_schedule",
    "wait",
    "wait_for_job_done",
    "why",
]

"""A job's state at a past time, the states of all its tasks, and its cost over time."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, cast

from ropewalk.batch.paths import connect, job_path
from ropewalk.past import CostPoint, PastJob, past_path


class TaskRun(TypedDict):
    """A run of consecutive cells in the same state."""

    state: str
    count: int


class DurationClass(TypedDict):
    fromMs: float
    #: Belongs to the next class.
    toMs: float
    count: int


class TaskStates(TypedDict):
    total: int
    #: 1 up to 100,000 tasks; above, a cell has the state of its most urgent task.
    tasksPerCell: int
    #: In the order of the tasks.
    runs: list[TaskRun]
    #: A histogram of the ended ones.
    durations: list[DurationClass]


def at(
    job: int | str,
    time: datetime | str,
    *,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> PastJob:
    """The state of a job, open or ended, at a past time. `time`: a datetime (without a time zone it is local), an
    RFC 3339 time, or an age, like "20 minutes". A task counts by its last attempt. Raises RopewalkError
    VALIDATION for a time before its submission or in the future."""
    api = connect(api_url, token, workspace)
    return cast(PastJob, api.request("GET", past_path(job_path(api, job, ""), time)))


def task_states(
    job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None
) -> TaskStates:
    """The states of all tasks, as runs of equal states in the order of the tasks, and the durations of the ended
    ones."""
    api = connect(api_url, token, workspace)
    return cast(TaskStates, api.request("GET", job_path(api, job, "/task-states")))


def costs(
    job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None
) -> list[CostPoint]:
    """The job's cost over time, in US dollars, at equal intervals since its first instance."""
    api = connect(api_url, token, workspace)
    return cast("list[CostPoint]", api.request("GET", job_path(api, job, "/costs"))["points"])

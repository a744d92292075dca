"""What a job was at a past moment, its tasks at a glance, and what it has cost over time."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, cast

from ropewalk.batch.paths import connect, job_path
from ropewalk.past import CostPoint, PastJob, past_path


class TaskRun(TypedDict):
    """So many tasks, one after the other, are in this state."""

    state: str
    count: int


class DurationClass(TypedDict):
    fromMs: float
    untilMs: float
    count: int


class TaskStates(TypedDict):
    total: int
    #: In the order of the tasks.
    runs: list[TaskRun]
    #: A histogram of those that have ended.
    durations: list[DurationClass]


def at(
    job: int | str,
    time: datetime | str,
    *,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> PastJob:
    """What a job, open or ended, was at a past moment. `time`: a datetime (without a time zone it is local), an RFC 3339 time, or
    how long ago, like "20 minutes". A task counts by its last attempt. Raises RopewalkError VALIDATION for a time before its
    submission or to come."""
    api = connect(api_url, token, workspace)
    return cast(PastJob, api.request("GET", past_path(job_path(api, job, ""), time)))


def task_states(
    job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None
) -> TaskStates:
    """The states of all tasks, as runs of equal states in the order of the tasks, and how long those took that have ended."""
    api = connect(api_url, token, workspace)
    return cast(TaskStates, api.request("GET", job_path(api, job, "/task-states")))


def costs(
    job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None
) -> list[CostPoint]:
    """What a job had cost, in US dollars, at equal distances of time since its first instance."""
    api = connect(api_url, token, workspace)
    return cast("list[CostPoint]", api.request("GET", job_path(api, job, "/costs"))["points"])

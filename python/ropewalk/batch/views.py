"""The API's answers about jobs. The server can add fields."""

from __future__ import annotations

from typing import Literal, TypedDict

from ropewalk.views import PlanPrice


class _CreatedJob(TypedDict):
    number: int
    name: str
    #: True when an equal request with the same key, or `get_or_create`, found an earlier job.
    existing: bool
    warnings: list[str]


class CreatedJob(_CreatedJob, total=False):
    #: The number again, as in Coiled: a job and its cluster share it.
    job_id: int
    cluster_id: int
    #: For all instances of a new job; absent without prices.
    pricePerHour: PlanPrice


class Reason(TypedDict):
    code: str
    text: str
    at: str


class TaskCounts(TypedDict):
    total: int
    pending: int
    assigned: int
    running: int
    done: int
    error: int
    cancelled: int


class TaskError(TypedDict):
    task: int
    attempt: int
    text: str
    at: str


class JobFailure(TypedDict):
    """Failed attempts with one cause: EXIT_1, SIGKILL, INSTANCE_LOST."""

    code: str
    text: str
    count: int
    lastAt: str


class _JobDetails(TypedDict, total=False):
    #: The most frequent cause first.
    failures: list[JobFailure]


class Job(_JobDetails):
    number: int
    workspace: str
    name: str
    command: str
    status: Literal["waiting", "pending", "running", "done", "error", "cancelled"]
    reason: Reason | None
    user: str
    tasks: TaskCounts
    array: str
    instances: int
    submittedAt: str
    startedAt: str | None
    endedAt: str | None
    recentErrors: list[TaskError]


class TaskCost(TypedDict):
    dollars: float


class Task(TypedDict):
    id: int
    index: int
    state: Literal["pending", "assigned", "running", "done", "error", "cancelled", "unknown"]
    attempt: int
    exitCode: int | None
    signal: str | None
    instance: str | None
    startedAt: str | None
    endedAt: str | None
    reason: str | None
    #: Approximate, in US dollars; None before it has run.
    cost: TaskCost | None


class TaskLine(TypedDict):
    """`task` is None for messages of an instance."""

    at: str
    instance: str
    task: int | None
    attempt: int | None
    stream: Literal["stdout", "stderr", "agent"]
    text: str


class _JobEvent(TypedDict):
    at: str
    code: str
    text: str


class JobEvent(_JobEvent, total=False):
    #: The user who requested it, if any.
    by: str | None

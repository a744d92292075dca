"""Reads, waits for and cancels batch jobs. A job is given by its number or its name; a name
means the newest job of that name."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, cast

from ropewalk.batch.follow import Line, follow_lines
from ropewalk.batch.paths import connect, job_path, pages
from ropewalk.batch.views import CreatedJob, Job, JobEvent, Task, TaskLine
from ropewalk.client_api import RETRY_FOR_S, is_temporary
from ropewalk.durations import Duration, seconds_of
from ropewalk.errors import JobTimeoutError, RopewalkError
from ropewalk.times import Since, iso_of, read_since
from ropewalk.views import Why

logger = logging.getLogger("ropewalk")


def get(job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None) -> Job:
    """The current state of a job."""
    api = connect(api_url, token, workspace)
    return cast(Job, api.request("GET", job_path(api, job)))


def status(
    cluster: int | str = "", workspace: str | None = None, *, api_url: str | None = None, token: str | None = None
) -> list[Job] | list[Task]:
    """The tasks of a job, by index; without a job the newest ten jobs, as from `list_jobs`."""
    if cluster == "":
        return list_jobs(workspace, api_url=api_url, token=token)
    return tasks(cluster, workspace=workspace, api_url=api_url, token=token)


def list_jobs(
    workspace: str | None = None,
    limit: int = 10,
    *,
    status: str | Sequence[str] | None = None,
    name: str | None = None,
    user: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    search: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> list[Job]:
    """The newest jobs of the workspace, newest first: by status (one or several), exact name, user, start since or
    until a time (a text may be an age: "2h"), or a text in their name or command."""
    wanted = {
        "status": status if status is None or isinstance(status, str) else ",".join(status),
        "name": name,
        "user": user,
        "since": iso_of(since) if isinstance(since, datetime) else since,
        "until": iso_of(until) if isinstance(until, datetime) else until,
        "q": search,
    }
    filters = {key: value for key, value in wanted.items() if value is not None}
    return cast("list[Job]", pages(connect(api_url, token, workspace), "/v1/jobs", limit, filters))


def tasks(
    job: int | str,
    *,
    state: str | None = None,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> list[Task]:
    """All tasks of a job, by index; with `state` only those in it, like "error"."""
    api = connect(api_url, token, workspace)
    return cast("list[Task]", pages(api, job_path(api, job, "/tasks"), None, None if state is None else {"state": state}))


def wait(
    job: int | str,
    *,
    timeout: Duration | None = None,
    poll: Duration = 2.0,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> Job:
    """Returns the job when it is `done`, `error` or `cancelled`; none of these raises. Waits through outages of the API. After
    `timeout`, JobTimeoutError, a TimeoutError, is raised; the job continues. `poll` is the longest pause between requests."""
    began = time.monotonic()
    deadline = None if timeout is None else began + seconds_of(timeout, "timeout")
    poll_s = seconds_of(poll, "poll")
    api = connect(api_url, token, workspace)
    path = job_path(api, job)
    # Until the API has answered once, an error is more likely a wrong address than an outage.
    view = cast(Job, api.request("GET", path))
    while view["status"] in ("waiting", "pending", "running"):
        now = time.monotonic()
        if deadline is not None and now >= deadline:
            counts = view["tasks"]
            message = f"Job {view['number']} is {view['status']}: {counts['done']} of {counts['total']} tasks are done."
            raise JobTimeoutError(message, code="TIMEOUT", hint="The job continues; cancel() ends it.")
        # The end of a long job is noticed late by at most a tenth of its duration.
        pause = min(poll_s, max(0.25, (now - began) * 0.1))
        time.sleep(pause if deadline is None else min(pause, deadline - now))
        left = RETRY_FOR_S if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            view = cast(Job, api.request("GET", path, retry_for_s=min(RETRY_FOR_S, left)))
        except RopewalkError as error:
            if not is_temporary(error):
                raise
            logger.warning("Still waiting for job %s: %s", job, error)
    return view


def wait_for_job_done(
    job_id: int | str, timeout: Duration | None = None, *, api_url: str | None = None, token: str | None = None
) -> str | None:
    """As in Coiled: how the job has ended (`done`, `error` or `cancelled`), or None when it has not ended after `timeout`."""
    try:
        return wait(job_id, timeout=timeout, api_url=api_url, token=token)["status"]
    except JobTimeoutError:
        return None


def logs(
    job: int | str,
    *,
    tasks: str | Sequence[int] | None = None,
    follow: bool = False,
    since: Since | None = None,
    instances: bool = False,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> Iterator[TaskLine]:
    """Output of the tasks as it arrives; the lines of each task are in order. `tasks` are ids, also as "0-3,7".
    `follow` continues until the job has ended, through outages of the API. `since` is a time, or an age like "10m". With
    `instances` also messages of the instances: their `task` is None."""
    query = _since_query(since)
    if tasks is not None:
        query["tasks"] = tasks if isinstance(tasks, str) else ",".join(map(str, tasks))
    api = connect(api_url, token, workspace)
    lines = follow_lines(api, job_path(api, job, "/logs"), query, key_of=_file_of, follow=follow, resumes=True)
    return (line for line in cast("Iterator[TaskLine]", lines) if instances or line["task"] is not None)


def events(
    job: int | str,
    *,
    follow: bool = False,
    since: Since | None = None,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> Iterator[JobEvent]:
    """Events of the job, oldest first. `follow` continues until the job has ended, through outages of the API. `since` is a time,
    or an age like "10m"."""
    query = _since_query(since)
    api = connect(api_url, token, workspace)
    # Each answer has all kept events.
    lines = follow_lines(api, job_path(api, job, "/events"), query, key_of=lambda _: "", follow=follow, resumes=False)
    return cast("Iterator[JobEvent]", lines)


def why(job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None) -> Why:
    """Why a job runs or waits, has not more instances, has its instance types, or has ended: `sentences`, each with
    its `text` and supporting `facts`."""
    api = connect(api_url, token, workspace)
    return cast(Why, api.request("GET", job_path(api, job, "/why")))


def retry(
    job: int | str,
    *,
    memory: str | None = None,
    cancelled: bool = False,
    again: bool = False,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> CreatedJob:
    """Runs the failed tasks of an ended job again, with their ids, as a new job; when the job ended with an error
    of its own (no instances, a timeout, a budget), all unfinished tasks; with `cancelled` also the cancelled
    ones. `memory` of each instance is a factor of the job's request, like "2x", or a size. A job's content is
    kept for seven days after its end. While another job that runs the same tasks is open, raises RopewalkError
    CONFLICT, unless `again`."""
    api = connect(api_url, token, workspace)
    body: dict[str, Any] = ({} if memory is None else {"memory": memory}) | ({"again": True} if again else {})
    body |= {"cancelled": True} if cancelled else {}
    created = api.request("POST", job_path(api, job, "/retry"), body, idempotency_key=str(uuid.uuid4()))
    return cast(CreatedJob, created)


def cancel(
    job: int | str,
    *,
    tasks: str | Sequence[int] | None = None,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> None:
    """Cancels a job; `wait` returns when it has ended. Has no effect on an ended job. With `tasks`, ids as a
    sequence or as "3,7-9", only these are cancelled and the job continues."""
    api = connect(api_url, token, workspace)
    if tasks is not None:
        ids = tasks if isinstance(tasks, str) else ",".join(map(str, tasks))
        api.request("POST", job_path(api, job, "/tasks/cancel"), {"tasks": ids})
        return
    api.request("POST", job_path(api, job, "/cancel"))


def _since_query(since: Since | None) -> dict[str, str]:
    at = read_since(since)
    return {} if at is None else {"since": at}


def _file_of(line: Line) -> object:
    """The output of an agent and of its task are two files, each with its lines in order."""
    return line["instance"], line["task"], line["attempt"], line["stream"] == "agent"

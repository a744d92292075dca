"""Jobs that run on a schedule, by a cron expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, cast
from urllib.parse import quote

from ropewalk.batch.paths import connect
from ropewalk.batch.storage import upload_files
from ropewalk.batch.request import Option, request_body
from ropewalk.private_envs import check_envs


class Schedule(TypedDict):
    name: str
    cron: str
    timezone: str
    overlap: str
    state: Literal["active", "paused", "stopped"]
    #: Why it stopped by itself.
    reason: str | None
    command: str
    user: str
    lastJob: int | None
    createdAt: str


class ScheduleRun(TypedDict):
    at: str
    state: Literal["due", "started", "skipped", "refused"]
    job: int | None
    #: Why it submitted no job.
    text: str | None


class ScheduleDetails(Schedule):
    nextRuns: list[str]
    runs: list[ScheduleRun]


def create_schedule(
    name: str,
    cron: str,
    command: str | Sequence[str],
    *,
    timezone: str | None = None,
    overlap: Literal["skip", "allow", "queue", "cancel"] | None = None,
    env: Mapping[str, str] | None = None,
    secret_env: Mapping[str, str] | None = None,
    ntasks: int | None = None,
    array: str | None = None,
    max_workers: int | None = None,
    retries: int | None = None,
    api_url: str | None = None,
    token: str | None = None,
    **options: Option,
) -> Schedule:
    """Runs a job at each time of a cron expression: five fields, or "@daily" and the like, in `timezone` (UTC by
    default). While the job of an earlier run is open, `overlap` skips the run ("skip", the default), runs both
    ("allow"), starts after it ("queue"), or cancels it first ("cancel"). The other arguments are those of `run`;
    without package sync.

    Examples
    --------
    >>> ropewalk.batch.create_schedule("nightly", "0 3 * * *", "python report.py", timezone="Europe/Berlin")["state"]
    'active'
    """
    fields = {
        "env": check_envs(env or {}) or None,
        "secretEnv": check_envs(secret_env or {}) or None,
        "ntasks": ntasks,
        "array": array,
        "maxWorkers": max_workers,
        "retries": retries,
    }
    job, stored, _ = request_body(command, [], fields, options)
    api = connect(api_url, token)
    if stored:
        job["inputFiles"] = upload_files(api, stored)
    given = {"name": name, "cron": cron, "timezone": timezone, "overlap": overlap, "job": job}
    body = {key: value for key, value in given.items() if value is not None}
    return cast(Schedule, api.request("POST", "/v1/schedules", body))


def list_schedules(*, api_url: str | None = None, token: str | None = None) -> list[Schedule]:
    """Schedules of the workspace, by name."""
    return cast("list[Schedule]", connect(api_url, token).request("GET", "/v1/schedules")["items"])


def get_schedule(name: str, *, api_url: str | None = None, token: str | None = None) -> ScheduleDetails:
    """A schedule with its next and last runs."""
    return cast(ScheduleDetails, connect(api_url, token).request("GET", f"/v1/schedules/{quote(name, safe='')}"))


def pause_schedule(name: str, *, api_url: str | None = None, token: str | None = None) -> Schedule:
    """Pauses a schedule until `resume_schedule`."""
    return _act("POST", name, "/pause", api_url, token)


def resume_schedule(name: str, *, api_url: str | None = None, token: str | None = None) -> Schedule:
    """Resumes a schedule after a pause, or after it has stopped by itself."""
    return _act("POST", name, "/resume", api_url, token)


def trigger_schedule(name: str, *, api_url: str | None = None, token: str | None = None) -> Schedule:
    """Runs a schedule now, paused or not."""
    return _act("POST", name, "/trigger", api_url, token)


def delete_schedule(name: str, *, api_url: str | None = None, token: str | None = None) -> Schedule:
    """Deletes a schedule. Jobs that it has started continue."""
    return _act("DELETE", name, "", api_url, token)


def _act(method: str, name: str, verb: str, api_url: str | None, token: str | None) -> Schedule:
    path = f"/v1/schedules/{quote(name, safe='')}{verb}"
    return cast(Schedule, connect(api_url, token).request(method, path))

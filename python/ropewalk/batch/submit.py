"""Submits a job, or asks what it would be launched as. The script's header is read by the server; this only sends text and
files."""

from __future__ import annotations

import os
import shlex
import uuid
import warnings
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from ropewalk.batch.files import collect_files
from ropewalk.batch.reach import connect
from ropewalk.batch.views import CreatedJob
from ropewalk.durations import Duration, seconds_of
from ropewalk.machines import JOB_MACHINES, job_fields
from ropewalk.private_envs import check_envs
from ropewalk.views import Plan

StrPath = str | os.PathLike[str]
Option = str | int | float | bool | timedelta | Sequence[str] | Sequence[int] | None


def run(
    command: str | Sequence[str],
    *,
    name: str | None = None,
    get_or_create: bool = False,
    env: Mapping[str, str] | None = None,
    secret_env: Mapping[str, str] | None = None,
    ntasks: int | None = None,
    array: str | None = None,
    max_workers: int | None = None,
    retries: int | None = None,
    job_timeout: Duration | None = None,
    lease: Duration | None = None,
    dead_man: Duration | None = None,
    private_to_creator: bool = False,
    upload: StrPath | Sequence[StrPath] | None = None,
    idempotency_key: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
    **options: Option,
) -> CreatedJob:
    """Submits a batch job and returns; `wait` tells when it is over.

    Parameters
    ----------
    command: the command line of each task, as a string that is split like a shell's, or as words. No shell sees it; `$NAME`
        in a word is replaced from the task's environment. Words that name files below the current directory are sent along.
    name, get_or_create: of the job; with `get_or_create` an open job of that name is answered instead of an error.
    env, secret_env: environment variables of the tasks; secrets are stored sealed, and only for the job.
    ntasks, array: how many tasks, or which ids: "2,4-6,8-10" or "0-10:2".
    max_workers: most instances; -1 means no limit.
    retries: further attempts for a task that fails.
    job_timeout: the job ends this long after its start: "1 hour", 3600, or a timedelta, as all durations here.
    lease: how long an instance may be silent before its task is looked into.
    dead_man: an instance that has not been answered for so long ends by itself; 30 minutes unless given.
    private_to_creator: only its creator may read what its tasks print.
    upload: files, or directories whose content, go into the tasks' working directory.
    idempotency_key: the same key with the same job never makes a second one; a new key per call unless given.
    api_url, token: else ROPEWALK_API_URL and ROPEWALK_TOKEN, else config.yaml in ROPEWALK_HOME (~/.ropewalk).
    options: on what it runs, where the server has a cloud: vm_type (or several, the most wanted first), scheduler_vm_type, cpu (4 or [2, 8]),
        memory ("16 GiB" or ["8 GiB", "32 GiB"]), gpu, arm, disk_size (in GiB), spot_policy ("on-demand", "spot" or
        "spot_with_fallback"), provider, region, zone, allow_cross_zone, wait_for_capacity ("6h"), allow_ssh, allow_ssh_from,
        allow_ingress_from. `plan` says what it would cost. Other options of `coiled.batch.run` by their names there: the
        server says which have no effect, as a warning, and refuses those without which something else would run.

    Examples
    --------
    >>> job = ropewalk.batch.run("python my_script.py", ntasks=10, job_timeout="1 hour")
    >>> ropewalk.batch.wait(job["number"])["status"]
    'done'
    """
    fields: dict[str, Any] = {
        "name": name,
        "getOrCreate": get_or_create or None,
        "env": check_envs(env or {}) or None,
        "secretEnv": check_envs(secret_env or {}) or None,
        "ntasks": ntasks,
        "array": array,
        "maxWorkers": max_workers,
        "retries": retries,
        "jobTimeout": None if job_timeout is None else seconds_of(job_timeout, "job_timeout"),
        "lease": None if lease is None else seconds_of(lease, "lease"),
        "deadMan": None if dead_man is None else seconds_of(dead_man, "dead_man"),
        "privateToCreator": private_to_creator or None,
    }
    sent, notes = _request(command, upload, fields, options)
    key = idempotency_key or str(uuid.uuid4())
    created = cast(CreatedJob, connect(api_url, token).ask("POST", "/v1/jobs", sent, idempotency_key=key))
    for text in [*notes, *created["warnings"]]:
        warnings.warn(text, stacklevel=2)
    return created


def plan(
    command: str | Sequence[str],
    *,
    ntasks: int | None = None,
    array: str | None = None,
    max_workers: int | None = None,
    upload: StrPath | Sequence[StrPath] | None = None,
    api_url: str | None = None,
    token: str | None = None,
    **options: Option,
) -> Plan:
    """What `run` would launch for this job: types in the order they are tried, zones, markets, dollars an hour. Launches
    nothing. The header of the script counts, as for `run`."""
    fields = {"ntasks": ntasks, "array": array, "maxWorkers": max_workers}
    sent, _ = _request(command, upload, fields, options)
    return cast(Plan, connect(api_url, token).ask("POST", "/v1/plans/jobs", sent))


def _request(
    command: str | Sequence[str],
    upload: StrPath | Sequence[StrPath] | None,
    fields: Mapping[str, Any],
    options: Mapping[str, Option],
) -> tuple[dict[str, Any], list[str]]:
    """The body, and what is to be noted about files."""
    words = shlex.split(command) if isinstance(command, str) else [*command]
    if not words:
        raise ValueError("command is empty")
    machines = job_fields({name: value for name, value in options.items() if name in JOB_MACHINES})
    texts = _as_texts({name: value for name, value in options.items() if name not in JOB_MACHINES})
    notes: list[str] = []
    files, command_sent = collect_files(words, _paths(upload), notes.append)
    body = {"command": command_sent, **fields, **machines, "options": texts or None, "files": files or None}
    return {name: value for name, value in body.items() if value is not None}, notes


def _as_texts(options: Mapping[str, Option]) -> dict[str, str]:
    """As the command line has them: a flag is there or not, a list is one text."""
    texts: dict[str, str] = {}
    for name, value in options.items():
        flag = name.replace("_", "-")
        if value is False and name in _SWITCHES:
            flag, value = f"no-{flag}", True
        if value is None or value is False:
            continue
        if value is True:
            text = ""
        else:
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        texts[flag] = text
    return texts


#: Flags whose negation is an option of its own: False does not mean the same as leaving them out.
_SWITCHES = frozenset({"task_on_scheduler"})


def _paths(upload: StrPath | Sequence[StrPath] | None) -> list[Path]:
    if upload is None:
        return []
    return [Path(upload)] if isinstance(upload, (str, os.PathLike)) else [Path(one) for one in upload]

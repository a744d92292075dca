"""Submits a job, or requests its plan. The server reads the script's header; this module only sends words and files."""

from __future__ import annotations

import logging
import os
import re
import shlex
import uuid
import warnings
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from ropewalk.batch.files import collect_files
from ropewalk.batch.paths import connect
from ropewalk.batch.views import CreatedJob
from ropewalk.durations import Duration, seconds_of
from ropewalk.machines import JOB_MACHINES, job_fields
from ropewalk.package_sync import make_software, read_options
from ropewalk.package_sync.options import FailOn
from ropewalk.private_envs import check_envs
from ropewalk.views import Plan

logger = logging.getLogger("ropewalk")

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
    watchdog_timeout: Duration | None = None,
    private_to_creator: bool = False,
    upload: StrPath | Sequence[StrPath] | None = None,
    requirements: Sequence[str] | None = None,
    package_sync: bool | Collection[str] | None = None,
    package_sync_ignore: Collection[str] | None = None,
    package_sync_only: Collection[str] | None = None,
    package_sync_strict: bool = False,
    package_sync_fail_on: FailOn = "critical-only",
    idempotency_key: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
    **options: Option,
) -> CreatedJob:
    """Submits a batch job and returns; `wait` returns when it has ended.

    Parameters
    ----------
    command: command line of each task, as a string that is split like a shell's, or as words. It is not run in a shell; `$NAME`
        in a word is replaced from the task's environment. Files below the current directory that words name are sent with the
        job, and so are scripts that words name by an absolute path, `~/` or `../`.
    name, get_or_create: name of the job; with `get_or_create` an open job of that name is returned instead of an error.
    env, secret_env: environment variables of the tasks; secrets are stored encrypted until the job has ended.
    ntasks, array: number of tasks, or their ids: "2,4-6,8-10" or "0-10:2".
    max_workers: maximum of instances; -1 means no limit.
    retries: number of retries of a failed task.
    job_timeout: the job ends this long after its start: "1 hour", 3600, or a timedelta, as all durations here.
    lease: an instance that has not reported for this long is checked.
    watchdog_timeout: an instance ends itself when the API has not answered it for this long; 30 minutes by default.
    private_to_creator: hides the output of tasks from other users.
    upload: files, or directories whose content, for the tasks' working directory.
    requirements: packages of the tasks' Python environment, as for pip, instead of package sync.
    package_sync: the tasks get the Python environment of this process, as the workers of a `Cluster` do, and its `python` is the
        first on their PATH. On when the command is a Python script, or begins with python, and `requirements` is not given. Without
        it tasks have the programs of the instance. The other options are those of `Cluster`.
    idempotency_key: the same key with the same job creates one job only; by default each call has a new key.
    api_url, token: by default ROPEWALK_API_URL and ROPEWALK_TOKEN, then config.yaml in ROPEWALK_HOME (~/.ropewalk).
    options: machines, when the server has a cloud provider: vm_type (or several, preferred ones first), scheduler_vm_type,
        cpu (4 or [2, 8]), memory ("16 GiB" or ["8 GiB", "32 GiB"]), gpu, arm, disk_size (in GiB), spot_policy ("on-demand",
        "spot" or "spot_with_fallback"), provider, region, zone, allow_cross_zone, wait_for_capacity ("6h"), allow_ssh,
        allow_ssh_from, allow_ingress_from. `plan` returns the price. Other options of `coiled.batch.run` are sent by name: the
        server warns about those without effect, and refuses those that would change the result.

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
        "watchdogTimeout": None if watchdog_timeout is None else seconds_of(watchdog_timeout, "watchdog_timeout"),
        "privateToCreator": private_to_creator or None,
    }
    sent, notes = _request(command, upload, fields, options)
    sync = read_options(
        _synced(sent["command"], requirements, package_sync),
        package_sync_ignore,
        package_sync_only,
        package_sync_strict,
        package_sync_fail_on,
    )
    api = connect(api_url, token)
    if sync is not None:
        sent["software"] = make_software(api, sync, logger.info, warn=notes.append)
    elif requirements is not None:
        sent["software"] = {"requirements": list(requirements)}
    key = idempotency_key or str(uuid.uuid4())
    created = cast(CreatedJob, api.request("POST", "/v1/jobs", sent, idempotency_key=key))
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
    """What `run` would launch for this job: types in the order of attempts, zones, markets, dollars per hour. Launches nothing.
    The server reads the script's header, as for `run`."""
    fields = {"ntasks": ntasks, "array": array, "maxWorkers": max_workers}
    sent, _ = _request(command, upload, fields, options)
    return cast(Plan, connect(api_url, token).request("POST", "/v1/plans/jobs", sent))


def _request(
    command: str | Sequence[str],
    upload: StrPath | Sequence[StrPath] | None,
    fields: Mapping[str, Any],
    options: Mapping[str, Option],
) -> tuple[dict[str, Any], list[str]]:
    """The request body, and notes about files that are not sent."""
    words = shlex.split(command) if isinstance(command, str) else [*command]
    if not words:
        raise ValueError("command is empty")
    machines = job_fields({name: value for name, value in options.items() if name in JOB_MACHINES})
    texts = _as_texts({name: value for name, value in options.items() if name not in JOB_MACHINES})
    notes: list[str] = []
    files, command_sent = collect_files(words, _paths(upload), notes.append)
    body = {"command": command_sent, **fields, **machines, "options": texts or None, "files": files or None}
    return {name: value for name, value in body.items() if value is not None}, notes


def _synced(
    words: Sequence[str], requirements: Sequence[str] | None, package_sync: bool | Collection[str] | None
) -> bool | Collection[str]:
    if requirements is not None:
        if package_sync is not None and package_sync is not False:
            raise ValueError("requirements and package_sync both say what the environment of the tasks has: give one of them")
        return False
    if package_sync is not None:
        return package_sync
    return words[0].endswith(".py") or re.fullmatch(r"python(3(\.\d+)?)?", words[0]) is not None


def _as_texts(options: Mapping[str, Option]) -> dict[str, str]:
    """Options as on the command line: a flag is present or absent, a list is one text."""
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


#: Flags whose negation is a separate option: False and None differ.
_SWITCHES = frozenset({"task_on_scheduler"})


def _paths(upload: StrPath | Sequence[StrPath] | None) -> list[Path]:
    if upload is None:
        return []
    return [Path(upload)] if isinstance(upload, (str, os.PathLike)) else [Path(one) for one in upload]

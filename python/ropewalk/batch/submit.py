"""Submits a job. The script's header is read by the server; this only sends text and files."""

from __future__ import annotations

import os
import shlex
import uuid
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ropewalk.batch.files import collect_files
from ropewalk.batch.reach import connect
from ropewalk.batch.views import CreatedJob
from ropewalk.durations import Duration, seconds_of
from ropewalk.private_envs import check_envs

StrPath = str | os.PathLike[str]
Option = str | int | float | bool | Sequence[str] | None


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
    options: those of `coiled.batch.run` by their names there, such as memory="8 GiB" or vm_type=[...]: the server says which
        have no effect, as a warning, and refuses those without which something else would run.

    Examples
    --------
    >>> job = ropewalk.batch.run("python my_script.py", ntasks=10, job_timeout="1 hour")
    >>> ropewalk.batch.wait(job["number"])["status"]
    'done'
    """
    words = shlex.split(command) if isinstance(command, str) else [*command]
    if not words:
        raise ValueError("command is empty")
    body: dict[str, Any] = {
        "command": words,
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
        "options": _as_texts(options) or None,
    }
    notes: list[str] = []
    body["files"] = collect_files(words, _paths(upload), notes.append) or None
    sent = {key: value for key, value in body.items() if value is not None}
    key = idempotency_key or str(uuid.uuid4())
    created = cast(CreatedJob, connect(api_url, token).ask("POST", "/v1/jobs", sent, idempotency_key=key))
    for text in [*notes, *created["warnings"]]:
        warnings.warn(text, stacklevel=2)
    return created


def _as_texts(options: Mapping[str, Option]) -> dict[str, str]:
    """As the command line has them: a flag is there or not, a list is one text."""
    texts: dict[str, str] = {}
    for name, value in options.items():
        if value is None or value is False:
            continue
        if value is True:
            text = ""
        else:
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        texts[name.replace("_", "-")] = text
    return texts


def _paths(upload: StrPath | Sequence[StrPath] | None) -> list[Path]:
    if upload is None:
        return []
    return [Path(upload)] if isinstance(upload, (str, os.PathLike)) else [Path(one) for one in upload]

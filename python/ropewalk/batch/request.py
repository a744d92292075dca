"""The request body of a job: the command's words, its machines, its other options, and the files that are sent with it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from ropewalk.batch.command_path import check_command_path
from ropewalk.batch.files import collect_files
from ropewalk.batch.header import options_of_script
from ropewalk.machines import JOB_MACHINES, job_fields

StrPath = str | os.PathLike[str]
Option = str | int | float | bool | timedelta | Sequence[str] | Sequence[int] | None


def request_body(
    command: str | Sequence[str],
    uploads: Sequence[Path],
    fields: Mapping[str, Any],
    options: Mapping[str, Option],
    *,
    store_all: bool = False,
    search_scripts: bool = True,
) -> tuple[dict[str, Any], list[tuple[str, Path, bool]], list[str]]:
    """The request body, files to be stored before it, and notes about files that are not sent."""
    words = shlex.split(command) if isinstance(command, str) else [*command]
    if not words:
        raise ValueError("command is empty")
    machines = job_fields({name: value for name, value in options.items() if name in JOB_MACHINES})
    texts = _as_texts({name: value for name, value in options.items() if name not in JOB_MACHINES})
    notes: list[str] = []
    searches = search_scripts and "no-implicit-file-upload" not in options_of_script(words, ["no-implicit-file-upload"])
    how = {"store_all": store_all, "search_scripts": searches}
    files, stored, command_sent = collect_files(words, uploads, notes.append, **how)
    body = {"command": command_sent, **fields, **machines, "options": texts or None, "files": files or None}
    return {name: value for name, value in body.items() if value is not None}, stored, notes


def check_path(
    command: str | Sequence[str],
    sent: Mapping[str, Any],
    stored: Sequence[tuple[str, Path, bool]],
    options: Mapping[str, Any],
) -> None:
    """Refuses a command that begins with a path of a file that neither exists here nor is sent."""
    files = sent.get("files", [])
    paths = [*(file["path"] for file in files), *(path for path, _, _ in stored)]
    words = shlex.split(command) if isinstance(command, str) else command
    check_command_path(words, paths, files, {**sent, **options})


def _as_texts(options: Mapping[str, Option]) -> dict[str, str]:
    """Options as on the command line: a flag is present or absent, a list is one text."""
    texts: dict[str, str] = {}
    for name, value in options.items():
        flag = name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            text = ""
        else:
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        texts[flag] = text
    return texts


def is_python(words: Sequence[str]) -> bool:
    return words[0].endswith(".py") or re.fullmatch(r"python(3(\.\d+)?)?", words[0]) is not None


def programs_of(command: str | Sequence[str], is_text: bool) -> list[Path]:
    """Scripts that run, for what they import."""
    words = [] if is_text else shlex.split(command) if isinstance(command, str) else [*command]
    return [path for word in words if word.endswith(".py") and os.path.isfile(path := Path(os.path.expanduser(word)))]


def numbers_of(jobs: int | Sequence[int] | None) -> list[int] | None:
    return [jobs] if isinstance(jobs, int) else None if jobs is None else [*jobs]


def paths_of(upload: StrPath | Sequence[StrPath] | None) -> list[Path]:
    if upload is None:
        return []
    return [Path(upload)] if isinstance(upload, (str, os.PathLike)) else [Path(one) for one in upload]

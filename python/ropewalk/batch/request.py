"""The request body of a job: the command's words, its machines, its other options, and the files that are sent with it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from ropewalk.batch.command_path import check_command_path
from ropewalk.batch.files import collect_files
from ropewalk.machines import JOB_MACHINES, job_fields

StrPath = str | os.PathLike[str]
Option = str | int | float | bool | timedelta | Sequence[str] | Sequence[int] | None


def request_body(
    command: str | Sequence[str],
    uploads: Sequence[Path],
    fields: Mapping[str, Any],
    options: Mapping[str, Option],
    store_all: bool = False,
) -> tuple[dict[str, Any], list[tuple[str, Path, bool]], list[str]]:
    """The request body, files to be stored before it, and notes about files that are not sent."""
    words = shlex.split(command) if isinstance(command, str) else [*command]
    if not words:
        raise ValueError("command is empty")
    machines = job_fields({name: value for name, value in options.items() if name in JOB_MACHINES})
    texts = _as_texts({name: value for name, value in options.items() if name not in JOB_MACHINES})
    notes: list[str] = []
    files, stored, command_sent = collect_files(words, uploads, notes.append, store_all)
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

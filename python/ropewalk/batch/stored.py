"""Output files of a job's tasks."""

from __future__ import annotations

import os
from pathlib import Path

from ropewalk.batch.paths import connect, job_path
from ropewalk.batch.storage import ListedFile, download_files, read_list


def list_files(
    job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None
) -> list[ListedFile]:
    """Files that tasks of the job created or changed, where they are stored; only those of each task's last attempt."""
    api = connect(api_url, token, workspace)
    return read_list(api, job_path(api, job, "/files"))


def download(
    job: int | str,
    into: str | os.PathLike[str],
    *,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> list[Path]:
    """Downloads them only into the given directory; returns their paths. Existing files with the same content are
    not downloaded again. A path that several tasks wrote with different content is kept once for each:
    `task-3/out.csv`."""
    api = connect(api_url, token, workspace)
    return download_files(api, read_list(api, job_path(api, job, "/files")), Path(into))

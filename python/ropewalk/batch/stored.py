"""Files that the tasks of a job have left behind."""

from __future__ import annotations

import os
from pathlib import Path

from ropewalk.batch.paths import connect, job_path
from ropewalk.batch.storage import ListedFile, download_files, read_list


def list_files(
    job: int | str, *, workspace: str | None = None, api_url: str | None = None, token: str | None = None
) -> list[ListedFile]:
    """Files that tasks of the job created or changed, where they are kept; of each task those of its last attempt."""
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
    """Downloads them into a directory, and nowhere else; returns their paths. Those that are there with the same content are not
    downloaded again. A path that several tasks wrote with different content is kept once for each: `task-3/out.csv`."""
    api = connect(api_url, token, workspace)
    return download_files(api, read_list(api, job_path(api, job, "/files")), Path(into))

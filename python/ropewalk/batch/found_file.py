"""A file of this machine that goes with a job."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict


class JobFile(TypedDict):
    path: str
    content: str
    executable: bool


@dataclass(frozen=True)
class Found:
    #: In the working directory of a task, with `/`.
    path: str
    source: Path
    size: int
    executable: bool

    def read(self) -> JobFile:
        content = base64.b64encode(self.source.read_bytes()).decode()
        return {"path": self.path, "content": content, "executable": self.executable}


def describe(source: Path, path: str) -> Found:
    info = source.stat()
    return Found(path, source, info.st_size, info.st_mode & 0o111 != 0)

"""A file of this machine that goes with a job."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict


class _Content(TypedDict):
    path: str
    content: str
    executable: bool


class JobFile(_Content, total=False):
    #: The user does not name it, only a script does: a file of the input filestore at its path replaces it.
    implicit: bool


@dataclass(frozen=True)
class Found:
    #: In the working directory of a task, with `/`.
    path: str
    source: Path
    size: int
    executable: bool

    def read(self, *, implicit: bool) -> JobFile:
        content = base64.b64encode(self.source.read_bytes()).decode()
        read: JobFile = {"path": self.path, "content": content, "executable": self.executable}
        return {**read, "implicit": True} if implicit else read


def describe(source: Path, path: str) -> Found:
    info = source.stat()
    return Found(path, source, info.st_size, info.st_mode & 0o111 != 0)


def walk_linked(
    directory: str | Path, on_error: Callable[[OSError], None] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """As os.walk, and into links, each directory once: a link to a parent directory must not be followed forever. Yields directory,
    names of directories and names of files, both sorted. `on_error` gets the error of a directory that cannot be read."""
    visited: set[str] = set()
    for place, directories, files in os.walk(directory, onerror=on_error, followlinks=True):
        if (real := os.path.realpath(place)) in visited:
            directories.clear()
            continue
        visited.add(real)
        directories.sort()
        yield place, directories, sorted(files)

"""Files from memory, for `buffers_to_upload`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TypedDict


class Buffer(TypedDict):
    #: Below the working directory of a task.
    relative_path: str
    buffer: IO[bytes]


@contextmanager
def buffer_files(buffers: Sequence[Buffer] | None) -> Iterator[list[Path]]:
    """A directory with the content of the buffers, from their beginning, as something to upload."""
    if not buffers:
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="ropewalk-") as directory:
        for one in buffers:
            path = PurePosixPath(one["relative_path"])
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"buffers_to_upload: {one['relative_path']!r} is not a path below the working directory")
            target = Path(directory, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            one["buffer"].seek(0)
            target.write_bytes(one["buffer"].read())
        yield [Path(directory)]

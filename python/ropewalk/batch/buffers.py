"""Files from memory, for `buffers_to_upload`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TypedDict


class Buffer(TypedDict):
    #: Relative to the working directory of a task.
    relative_path: str
    buffer: IO[bytes]


@contextmanager
def buffer_files(buffers: Sequence[Buffer] | None) -> Iterator[list[Path]]:
    """A directory with the complete content of the buffers, for upload."""
    if not buffers:
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="ropewalk-") as directory:
        for one in buffers:
            if not isinstance(one.get("relative_path"), str) or not hasattr(one.get("buffer"), "seek"):
                raise TypeError('buffers_to_upload: each is {"relative_path": "hello.txt", "buffer": io.BytesIO(b"hello")}')
            path = PurePosixPath(one["relative_path"])
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"buffers_to_upload: {one['relative_path']!r} is not a path below the working directory")
            target = Path(directory, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            one["buffer"].seek(0)
            content = one["buffer"].read()
            if not isinstance(content, bytes):
                raise TypeError(f"buffers_to_upload: {one['relative_path']!r} is text; give its bytes, in io.BytesIO")
            target.write_bytes(content)
        yield [Path(directory)]

"""Both sides' state after the last round, in a file of Ropewalk's home: one for each directory and cluster. A new
cluster of the same name has no files yet, and starts with an empty state."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ropewalk.config import config_file
from ropewalk.notebook.decide import Synced

try:
    import fcntl
except ImportError:
    # Windows lacks fcntl, so two processes that sync the same directory are not separated there.
    fcntl = None  # type: ignore[assignment]


def state_directory() -> Path:
    return config_file().parent / "notebooks"


def state_file(api_url: str, number: int, directory: Path) -> Path:
    return state_directory() / f"{_prefix(api_url, number)}-{_hash(str(directory))}.json"


def synced_directories(api_url: str, number: int) -> list[Path]:
    """Directories that were synced with the cluster on this machine and still exist."""
    found = []
    for file in sorted(state_directory().glob(f"{_prefix(api_url, number)}-*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            directory = Path(json.loads(file.read_text("utf-8"))["directory"])
            if directory.is_dir():
                found.append(directory)
    return found


def load(file: Path) -> dict[str, Synced]:
    """Empty without a file, or with a damaged one: then equal files are recognized, and others are conflicts."""
    try:
        files = json.loads(file.read_text("utf-8"))["files"]
        return {path: Synced(one[0], None if one[1] is None else (one[1][0], one[1][1]), one[2]) for path, one in files.items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return {}


def save(file: Path, directory: Path, files: Mapping[str, Synced]) -> None:
    content = {"directory": str(directory), "files": {path: [one.sha256, one.here, one.there] for path, one in files.items()}}
    handle, temporary = tempfile.mkstemp(prefix=".state-", dir=file.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as written:
        json.dump(content, written)
    os.replace(temporary, file)


def forget(api_url: str, number: int) -> None:
    """Called after the end of the cluster."""
    for file in state_directory().glob(f"{_prefix(api_url, number)}-*"):
        with contextlib.suppress(OSError):
            file.unlink()


@contextlib.contextmanager
def alone(file: Path) -> Iterator[None]:
    """One process at a time: `ropewalk notebook stop` can sync while `ropewalk notebook start` does."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(file.with_suffix(".lock"), "w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _prefix(api_url: str, number: int) -> str:
    return f"{_hash(api_url)}-{number}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]

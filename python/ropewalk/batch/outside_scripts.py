"""Decides which files that a command names by an absolute path, `~/` or `../` are the user's scripts. Scripts are sent with the
job; other such paths mean programs and data of the instance, e.g. /usr/bin/python3."""

from __future__ import annotations

import os
import re
from pathlib import Path

#: The server's rule for headers.
_HEADER = re.compile(r"^\s*(?:#+|//)\s*(?:ROPEWALK|COILED)(?![A-Za-z0-9_])", re.MULTILINE)
_ENDINGS = frozenset({".py", ".sh", ".bash", ".R", ".jl", ".js", ".mjs", ".ts", ".rb", ".pl"})


def has_script_ending(name: str) -> bool:
    return Path(name).suffix in _ENDINGS


def is_script(path: Path, content: bytes) -> bool:
    """`path` is absolute; `content` is the whole file."""
    if b"\0" in content:
        return False
    text = content.decode(errors="replace")
    if _HEADER.search(text):
        return True
    return (text.startswith("#!") or path.suffix in _ENDINGS) and not _holds_programs(path.parent)


def _holds_programs(directory: Path) -> bool:
    """Scripts there, e.g. pip of a virtual environment, are installed programs."""
    return directory.name in ("bin", "sbin") or str(directory) in os.environ.get("PATH", "").split(os.pathsep)

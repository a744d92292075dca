"""The file names that are synced. Names from the server are checked by the same rules, because any user who runs
code on the cluster can forge the server's answers. Pure."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence

#: Directories that programs can recreate. Hidden names, such as .git, .venv and .ipynb_checkpoints, are always
#: excluded.
CACHES = frozenset({"__pycache__", "node_modules", "venv", "dask-scratch-space", "dask-worker-space"})
#: git treats a directory with this file, `objects` and `refs` as a repository, and runs programs that its `config`
#: names.
_OF_REPOSITORIES = "head"
_MAX_NAME_BYTES = 255
_WINDOWS = frozenset('<>:"|?*')


def is_plain(name: object) -> bool:
    """Whether it is a valid name of one file or directory, on any supported system."""
    if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\\" in name:
        return False
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        return False
    if os.name == "nt" and (_WINDOWS & set(name) or name.endswith((".", " "))):
        return False
    return len(name.encode()) <= _MAX_NAME_BYTES


def is_synced(name: str, ignored: Sequence[str]) -> bool:
    if not is_plain(name) or _folded(name) == _OF_REPOSITORIES:
        return False
    return not name.startswith(".") and name not in CACHES and not name.endswith((".pyc", "~")) and name not in ignored


def _folded(name: str) -> str:
    """In the form in which file systems compare names: some ignore case, and drop zero-width characters."""
    seen = "".join(character for character in name if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFKC", seen).casefold()

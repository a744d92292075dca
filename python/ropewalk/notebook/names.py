"""Which names of files are synced. A name from the server is checked by the same rules: any user who runs code on the cluster can
make the server answer anything. Pure."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence

#: What programs can make again. Hidden names, as .git, .venv and .ipynb_checkpoints, are left out in any case.
CACHES = frozenset({"__pycache__", "node_modules", "venv", "dask-scratch-space", "dask-worker-space"})
#: git takes a directory with this file, `objects` and `refs` for a repository, and runs programs that its `config` names.
_OF_REPOSITORIES = "head"
_MAX_NAME_BYTES = 255
_WINDOWS = frozenset('<>:"|?*')


def is_plain(name: object) -> bool:
    """Whether it is the name of one file or directory, in any directory, on any system that this runs on."""
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
    """As file systems compare names: some know no capital letters, and leave out characters without a width."""
    seen = "".join(character for character in name if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFKC", seen).casefold()

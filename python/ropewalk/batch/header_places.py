"""Where on this machine a path leads that the header of a script, or one of its lines, names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def own_place(path: Path, root: Path) -> Literal["own", "outside", "hidden"]:
    """Also where links lead. What is `hidden` starts programs or holds keys."""
    root, place = root.resolve(), path.resolve()
    if not place.is_relative_to(root):
        return "outside"
    names = place.relative_to(root).parts
    return "hidden" if root == Path.home().resolve() and (not names or names[0].startswith(".")) else "own"

"""Where on this machine a path leads that the header of a script, or one of its lines, names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def own_place(path: Path, root: Path) -> Literal["own", "outside", "hidden"]:
    """Also where links lead. What is `hidden` starts programs or holds keys."""
    root, place = root.resolve(), path.resolve()
    if not place.is_relative_to(root):
        return "outside"
    return "hidden" if _is_hidden(place, Path.home().resolve()) else "own"


def _is_hidden(place: Path, home: Path) -> bool:
    """Below a hidden entry of the home directory, whatever the current directory is; also a directory that contains the home
    directory."""
    if home.is_relative_to(place):
        return True
    return place.is_relative_to(home) and place.relative_to(home).parts[0].startswith(".")

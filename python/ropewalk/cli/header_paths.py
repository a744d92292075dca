"""Restricts the paths in a script's header, which name files of this machine. Running a script on instances does
not grant it access to this machine: its header may only read and write in the command's directory, unless the
command line names the same path."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import click


def check_header_paths(asked: Mapping[str, Collection[str]], given: Collection[str]) -> None:
    """`asked`: paths by the header's option; `given`: the command line's paths. Raises click.UsageError."""
    allowed = {os.path.abspath(path) for path in given}
    root = Path.cwd().resolve()
    for option, paths in asked.items():
        for path in paths:
            if os.path.abspath(path) in allowed:
                continue
            place = Path(path).resolve()
            # Hidden files of a home directory contain startup scripts and keys.
            is_of_home = root == Path.home().resolve() and (place == root or _is_hidden(place, root))
            if not place.is_relative_to(root) or is_of_home:
                where = "a hidden file of your home directory, or all of it" if is_of_home else "outside the current directory"
                raise click.UsageError(
                    f"the script's header has {option} {path}, which is {where}. If you want that, give it yourself: --{option} {path}"
                )


def _is_hidden(place: Path, root: Path) -> bool:
    return place.is_relative_to(root) and place.relative_to(root).parts[0].startswith(".")

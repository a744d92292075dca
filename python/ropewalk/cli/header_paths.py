"""Restricts the paths in a script's header, which name files of this machine. Running a script on instances does
not grant it access to this machine: its header may only read and write in the command's directory, unless the
command line names the same path."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import click

from ropewalk.batch.header_places import own_place


def check_header_paths(asked: Mapping[str, Collection[str]], given: Collection[str]) -> None:
    """`asked`: paths by the header's option; `given`: the command line's paths. Raises click.UsageError."""
    allowed = {os.path.abspath(path) for path in given}
    for option, paths in asked.items():
        for path in paths:
            place = own_place(Path(path), Path.cwd())
            if place == "own" or os.path.abspath(path) in allowed:
                continue
            where = "a hidden file of your home directory, or all of it" if place == "hidden" else "outside the current directory"
            raise click.UsageError(
                f"the script's header has {option} {path}, which is {where}. If you want that, give it yourself: --{option} {path}"
            )

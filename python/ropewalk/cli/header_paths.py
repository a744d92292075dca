"""Restricts the paths in a script's header, which name files of this machine. Running a script on instances does
not grant it access to this machine: its header may only read and write in the command's directory, unless the
command line names the same path."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

import click

from ropewalk.batch.found_file import walk_linked
from ropewalk.batch.header_places import own_place


#: Options that send all files of a directory.
_SENDS_CONTENT = ("upload", "sync")


def check_header_paths(asked: Mapping[str, Collection[str]], given: Collection[str]) -> None:
    """`asked`: paths by the header's option; `given`: the command line's paths. Raises click.UsageError."""
    allowed = {os.path.abspath(path) for path in given}
    for option, paths in asked.items():
        for path in paths:
            if os.path.abspath(path) in allowed:
                continue
            text = f"the script's header has {option} {path}"
            place = own_place(Path(path), Path.cwd())
            if place != "own":
                where = _HIDDEN if place == "hidden" else _OUTSIDE
                raise click.UsageError(f"{text}, which is {where}. If you want that, give it yourself: --{option} {path}")
            found = _foreign_link(path) if option in _SENDS_CONTENT else None
            if found is not None:
                link, leads_to = found
                where = f"to {_HIDDEN}" if leads_to == "hidden" else _OUTSIDE
                raise click.UsageError(
                    f"{text}, and its link {link} leads {where}. "
                    f"Remove the link. If you want to send what it leads to, give the directory yourself: --upload {path}"
                )


_OUTSIDE = "outside the current directory"
_HIDDEN = "a hidden file of your home directory, or all of it"


def _foreign_link(directory: str) -> tuple[str, Literal["outside", "hidden"]] | None:
    """The first link in a directory to a place that the header may not name. An upload follows links, so this search does too."""
    for place, directories, files in walk_linked(directory):
        for entry in (os.path.join(place, name) for name in sorted([*directories, *files])):
            # A link to nothing is not sent.
            is_followed = os.path.islink(entry) and os.path.exists(entry)
            leads_to = own_place(Path(entry), Path.cwd()) if is_followed else "own"
            if leads_to != "own":
                return os.path.normpath(entry), leads_to
    return None

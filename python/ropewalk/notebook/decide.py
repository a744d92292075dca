"""Decides what a sync round does with each file: compares both sides' state after the last round with their current
state. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

#: `compare`: both sides changed, or no earlier round is known; `forget`: both sides removed it.
Action = Literal["send", "fetch", "compare", "remove_here", "remove_there", "forget"]

#: Limits in total, and of one file, so that a kernel that writes data for hours does not fill the laptop's disk.
MAX_FILE_BYTES = 25 * 1024 * 1024
MAX_TOTAL_BYTES = 200 * 1024 * 1024
#: From this number of files on, a side without any of them has more probably lost its directory than been emptied on
#: purpose.
EMPTIED_FROM = 2


@dataclass(frozen=True)
class Synced:
    """A file after the last round with it. `here`: modification time in ns and size; None after a conflict, because
    the content here differs. `there`: the server's version, see contents.py."""

    sha256: str
    here: tuple[int, int] | None
    there: str


@dataclass(frozen=True)
class Plan:
    actions: Mapping[str, Action]
    #: The side that has lost all its files: nothing is removed on the other one.
    emptied: Literal["here", "there"] | None = None


def decide(synced: Synced | None, here: str | None, there: str | None) -> Action | None:
    """`here`: SHA-256 of the content; `there`: version. A change wins over a removal, so no written content is lost."""
    if synced is None:
        if here is not None and there is not None:
            return "compare"
        return "send" if here is not None else "fetch" if there is not None else None
    if here is None and there is None:
        return "forget"
    if here is None:
        return "remove_there" if there == synced.there else "fetch"
    if there is None:
        return "remove_here" if here == synced.sha256 else "send"
    if here != synced.sha256:
        return "send" if there == synced.there else "compare"
    return None if there == synced.there else "fetch"


def make_plan(
    synced: Mapping[str, Synced], here: Mapping[str, str], there: Mapping[str, str], left_out: Collection[str]
) -> Plan:
    """Files in `left_out` get no action: they are not read, which does not mean that they were removed."""
    paths = (synced.keys() | here.keys() | there.keys()) - set(left_out)
    decided = {path: decide(synced.get(path), here.get(path), there.get(path)) for path in sorted(paths)}
    actions = {path: action for path, action in decided.items() if action is not None}
    emptied: Literal["here", "there"] | None = None
    if len(synced) >= EMPTIED_FROM:
        # Excluded files are not read, but exist.
        emptied = "here" if not here and not left_out and there else "there" if not there and here else None
    if emptied is not None:
        unwanted: Action = "remove_there" if emptied == "here" else "remove_here"
        actions = {path: action for path, action in actions.items() if action != unwanted}
    return Plan(actions, emptied)


def too_large(sizes: Mapping[str, int], earlier: Collection[str]) -> dict[str, str]:
    """The files beyond the limits, with the reason. Already synced files have priority, then small ones."""
    reasons: dict[str, str] = {}
    total = 0
    for path in sorted(sizes, key=lambda path: (path not in earlier, sizes[path], path)):
        if sizes[path] > MAX_FILE_BYTES:
            reasons[path] = f"it has {megabytes(sizes[path])}, and a file may have {megabytes(MAX_FILE_BYTES)}"
        elif total + sizes[path] > MAX_TOTAL_BYTES:
            reasons[path] = f"all files together may have {megabytes(MAX_TOTAL_BYTES)}"
        else:
            total += sizes[path]
    return reasons


def clashes(files: Iterable[str], others: Collection[str]) -> dict[str, str]:
    """Files below a name that is a file on the other side, by that name."""
    other = set(others)
    found: dict[str, str] = {}
    for path in files:
        above = next((one for one in parents(path) if one in other), None)
        if above is not None:
            found[path] = above
    return found


def parents(path: str) -> list[str]:
    """`a/b/c`: `a`, `a/b`."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def conflict_path(path: str, time: str) -> str:
    """`work/one.ipynb`: `work/one.conflict-20261123-141500.ipynb`."""
    directory, slash, name = path.rpartition("/")
    stem, dot, end = name.rpartition(".")
    return f"{directory}{slash}{stem}.conflict-{time}.{end}" if dot else f"{directory}{slash}{name}.conflict-{time}"


def megabytes(size: int) -> str:
    return f"{size / 1024**2:.0f} MiB"

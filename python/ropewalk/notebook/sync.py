"""Rounds of the sync: list both sides, decide, apply. A file that cannot be synced now is left for the next round;
the state is written after each file, so that the work of a killed process continues."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ropewalk.errors import RopewalkError
from ropewalk.notebook import state
from ropewalk.notebook.contents import JupyterFiles, Listing
from ropewalk.notebook.decide import Action, Synced, clashes, conflict_path, make_plan, too_large
from ropewalk.notebook.local import ChangedMeanwhile, LocalFiles, Scan, sha256_of

#: Maximum rounds until nothing changes; a conflict takes two.
_MAX_SETTLING_ROUNDS = 6
#: Maximum conflicts of one file in one second.
_MAX_CONFLICTS = 100
#: Minimum interval of state writes while many files are sent.
_SAVE_EVERY_S = 1.0

Side = Literal["here", "there"]


@dataclass
class Round:
    """The results of a round. `left`: files that changed meanwhile; the next round handles them."""

    sent: int = 0
    fetched: int = 0
    removed: int = 0
    conflicts: int = 0
    left: int = 0
    #: Reasons for files in the plan that cannot be synced.
    failed: dict[str, str] = field(default_factory=dict)
    #: The side that has lost all files.
    emptied: Side | None = None
    #: Excluded files of the server, which are deleted with it.
    only_there: list[str] = field(default_factory=list)

    @property
    def is_quiet(self) -> bool:
        return self.sent + self.fetched + self.removed + self.conflicts + self.left == 0


@dataclass
class _Sides:
    scan: Scan
    hashes: dict[str, str]
    listing: Listing
    left_out: set[str]
    #: Files that are being written.
    busy: int = 0


class Sync:
    """`say` receives lines for the user: each file that is written, removed, in conflict, or excluded."""

    def __init__(self, here: LocalFiles, there: JupyterFiles, file: Path, say: Callable[[str], None]) -> None:
        self._here = here
        self._there = there
        self._file = file
        self._say = say
        self._said: set[str] = set()
        self._synced: dict[str, Synced] = {}
        self._saved_at = 0.0

    def settle(self) -> Round:
        """Runs rounds until both sides are equal; returns their total, with the rest of the last one."""
        total = Round()
        for _ in range(_MAX_SETTLING_ROUNDS):
            done = self.round()
            for name in ("sent", "fetched", "removed", "conflicts"):
                setattr(total, name, getattr(total, name) + getattr(done, name))
            total.left, total.failed, total.emptied, total.only_there = done.left, done.failed, done.emptied, done.only_there
            if done.is_quiet:
                break
        return total

    def round(self) -> Round:
        """Raises Unavailable, or RopewalkError for an error that a retry does not change."""
        with state.alone(self._file):
            self._synced = state.load(self._file)
            before = dict(self._synced)
            sides = self._look()
            plan = make_plan(self._synced, sides.hashes, sides.listing.versions, sides.left_out)
            only_there = sorted(path for path in sides.listing.versions if path in sides.left_out and path not in sides.scan.files)
            done = Round(left=sides.busy, emptied=plan.emptied, only_there=only_there)
            try:
                for path, action in plan.actions.items():
                    self._try(path, action, sides, done)
                    self._save_sometimes()
            finally:
                # Saved even without any file, so that the directory is remembered.
                if self._synced != before or not self._file.exists():
                    state.save(self._file, self._here.root, self._synced)
            return done

    def _look(self) -> _Sides:
        scan, listing = self._here.scan(), self._there.listing()
        for name in sorted(listing.refused):
            self._say_once(f"{name} on the server is left out: no file here may have this name")
        ignored = self._here.ignored_by_git(self._visible(scan.files.keys() | listing.versions.keys(), scan))
        for path in ignored:
            scan.files.pop(path, None)
            listing.versions.pop(path, None)
            listing.sizes.pop(path, None)
            # A file synced before .gitignore excluded it stays on both sides.
            self._synced.pop(path, None)
        left_out = {path: "a link has this name here" for path in listing.versions if not self._visible([path], scan)}
        left_out |= {path: f"{above} is a file here" for path, above in clashes(listing.versions, scan.files.keys()).items()}
        left_out |= {path: f"{above} is a file on the server" for path, above in clashes(scan.files, listing.versions.keys()).items()}
        sizes = {path: size for path, (_, size) in scan.files.items()}
        for path, size in listing.sizes.items():
            sizes[path] = max(size, sizes.get(path, 0))
        left_out |= too_large({path: size for path, size in sizes.items() if path not in left_out}, self._synced.keys())
        for path, why in {**dict.fromkeys(sorted(scan.links), "it is a link"), **left_out}.items():
            self._say_once(f"{path} is left out: {why}")
        hashes = self._hashes({path: one for path, one in scan.files.items() if path not in left_out})
        busy = scan.files.keys() - left_out.keys() - hashes.keys()
        return _Sides(scan, hashes, listing, {*left_out, *busy}, len(busy))

    @staticmethod
    def _visible(paths: Iterable[str], scan: Scan) -> list[str]:
        """Excludes paths at or below a link, or a skipped directory, of this machine."""
        hidden = scan.links | scan.skipped
        beginnings = tuple(f"{path}/" for path in hidden)
        return [path for path in paths if path not in hidden and not path.startswith(beginnings)]

    def _hashes(self, files: Mapping[str, tuple[int, int]]) -> dict[str, str]:
        """Files with the modification time and size of the last round have its content. Omits files that change
        meanwhile."""
        hashes = {}
        for path, signature in files.items():
            synced = self._synced.get(path)
            if synced is not None and synced.here == signature:
                hashes[path] = synced.sha256
                continue
            try:
                hashes[path] = sha256_of(self._here.read(path, signature))
            except ChangedMeanwhile:
                continue
            if synced is not None and hashes[path] == synced.sha256:
                self._synced[path] = replace(synced, here=signature)
        return hashes

    def _try(self, path: str, action: Action, sides: _Sides, done: Round) -> None:
        try:
            self._carry_out(path, action, sides, done)
        except ChangedMeanwhile:
            done.left += 1
        except OSError as error:
            done.failed[path] = error.strerror or str(error)
        except RopewalkError as error:
            # An error of one file. Errors of all files have another code.
            if error.code != "SYNC_FAILED":
                raise
            done.failed[path] = error.message
        if path in done.failed:
            self._say_once(f"{path} cannot be synced: {done.failed[path]}")

    def _carry_out(self, path: str, action: Action, sides: _Sides, done: Round) -> None:
        here, there = sides.scan.files.get(path), sides.listing.versions.get(path)
        if action == "forget":
            del self._synced[path]
        elif action == "remove_here" and here is not None:
            self._here.remove(path, here)
            del self._synced[path]
            done.removed += 1
            self._say(f"{path} is removed here, as on the server")
        elif action == "remove_there" and there is not None:
            self._there.remove(path, there)
            del self._synced[path]
            done.removed += 1
            self._say(f"{path} is removed on the server, as here")
        elif action == "send" and here is not None:
            content = self._here.read(path, here)
            version = self._there.write(path, content, there)
            self._synced[path] = Synced(sha256_of(content), here, version)
            done.sent += 1
            self._say(f"{path} -> server")
        elif action == "fetch":
            self._fetch(path, here, done)
        elif action == "compare" and here is not None:
            self._compare(path, here, sides.hashes[path], done)

    def _fetch(self, path: str, here: tuple[int, int] | None, done: Round) -> None:
        content, version = self._there.read(path)
        known = self._synced.get(path)
        if here is not None and known is not None and known.sha256 == sha256_of(content):
            self._synced[path] = replace(known, there=version)
            return
        written = self._here.write(path, content, here)
        self._synced[path] = Synced(sha256_of(content), written, version)
        done.fetched += 1
        self._say(f"{path} <- server")

    def _compare(self, path: str, here: tuple[int, int], sha256: str, done: Round) -> None:
        content, version = self._there.read(path)
        if sha256_of(content) == sha256:
            self._synced[path] = Synced(sha256, here, version)
            return
        stamp = time.strftime("%Y%m%d-%H%M%S")
        names = (conflict_path(path, f"{stamp}-{count}" if count else stamp) for count in range(_MAX_CONFLICTS))
        kept = next((name for name in names if self._here.signature(name) is None), "")
        if not kept:
            raise ChangedMeanwhile(path)
        self._here.write(kept, content, None)
        # From here on it is a change of this side only, and the next round sends it.
        self._synced[path] = Synced(sha256_of(content), None, version)
        done.conflicts += 1
        self._say(f"{path} has changed on both sides: yours keeps its name, the server's is kept as {kept}")

    def _save_sometimes(self) -> None:
        if time.monotonic() - self._saved_at > _SAVE_EVERY_S:
            state.save(self._file, self._here.root, self._synced)
            self._saved_at = time.monotonic()

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)


"""The directory on this machine. Links are not followed, and nothing is written through one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ropewalk.errors import RopewalkError
from ropewalk.notebook.decide import parents
from ropewalk.notebook.names import is_synced
from ropewalk.package_sync.git import TRUSTLESS, trustless_environment

#: Hidden, so never synced. A killed process's file can be removed.
_TEMPORARY = ".ropewalk-sync-"
MAX_FILES = 5_000
_CHECK_IGNORE = ("check-ignore", "-z", "--stdin")
_GIT_TIMEOUT_S = 60


class ChangedMeanwhile(Exception):
    """The file changed after it was listed; the next round decides again."""


@dataclass
class Scan:
    #: Modification time in ns and size, by path with slashes.
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    #: Python environments, and unreadable directories.
    skipped: set[str] = field(default_factory=set)


class LocalFiles:
    def __init__(self, root: Path, ignored: Sequence[str] = ()) -> None:
        self.root = root
        self._ignored = ignored

    def scan(self) -> Scan:
        """Raises RopewalkError when the directory is missing: an unplugged disk must not remove the files on the
        server."""
        found = Scan()
        try:
            entries = list(os.scandir(self.root))
        except OSError as error:
            raise RopewalkError(f"{self.root} cannot be read: {error.strerror}.", code="SYNC_FAILED") from None
        self._scan(entries, "", found)
        return found

    def _scan(self, entries: list[os.DirEntry[str]], above: str, found: Scan) -> None:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = above + entry.name
            if not is_synced(entry.name, self._ignored):
                continue
            try:
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISLNK(about.st_mode):
                    found.links.add(path)
                elif stat.S_ISDIR(about.st_mode):
                    if os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                        found.skipped.add(path)
                    else:
                        self._scan(list(os.scandir(entry.path)), f"{path}/", found)
                elif stat.S_ISREG(about.st_mode):
                    found.files[path] = (about.st_mtime_ns, about.st_size)
            except FileNotFoundError:
                continue
            except PermissionError:
                found.skipped.add(path)
        if len(found.files) > MAX_FILES:
            raise RopewalkError(
                f"{self.root} has more than {MAX_FILES} files.",
                code="SYNC_FAILED",
                hint="Sync a directory of its own for the notebook, name what is not needed in .gitignore, or use --sync-ignore.",
            )

    def ignored_by_git(self, paths: Collection[str]) -> set[str]:
        """The files that .gitignore excludes. Empty without git."""
        if not paths or (git := shutil.which("git")) is None:
            return set()
        names = "".join(f"{path}\0" for path in sorted(paths)).encode()
        command = [git, *TRUSTLESS, "-C", str(self.root)]
        options: dict[str, Any] = {"env": trustless_environment(), "capture_output": True, "timeout": _GIT_TIMEOUT_S}
        try:
            run = subprocess.run([*command, *_CHECK_IGNORE], input=names, **options)
            if run.returncode > 1 and (self.root / ".gitignore").exists():
                # Without a repository, or with submodules here, only this directory's own .gitignore applies.
                with tempfile.TemporaryDirectory() as place:
                    subprocess.run([git, "init", "--quiet", "--bare", place], **options)
                    apart = [f"--git-dir={place}", f"--work-tree={self.root}", "-c", "core.bare=false", *_CHECK_IGNORE]
                    run = subprocess.run([*command, *apart], input=names, **options)
        except subprocess.TimeoutExpired:
            raise RopewalkError(f"git does not say what .gitignore names in {self.root}.", code="SYNC_FAILED") from None
        return {os.fsdecode(name) for name in run.stdout.split(b"\0") if name} if run.returncode <= 1 else set()

    def read(self, path: str, expected: tuple[int, int]) -> bytes:
        """Raises ChangedMeanwhile unless the file is the listed one, and stayed so during the read."""
        target = self._inside(path)
        try:
            with open(target, "rb", opener=_without_links) as file:
                content = file.read(expected[1] + 1)
        except OSError:
            raise ChangedMeanwhile(path) from None
        if self.signature(path) != expected or len(content) != expected[1]:
            raise ChangedMeanwhile(path)
        return content

    def write(self, path: str, content: bytes, expected: tuple[int, int] | None) -> tuple[int, int]:
        """Replaces the listed file, or adds one, atomically. Returns its modification time and size."""
        target = self._inside(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            mode = 0o666 & ~_umask() if expected is None else stat.S_IMODE(os.lstat(target).st_mode)
            os.chmod(temporary, mode)
            # Also covers names that differ only in case, which are one file on some systems.
            if self.signature(path) != expected:
                raise ChangedMeanwhile(path)
            os.replace(temporary, target)
        except FileNotFoundError:
            raise ChangedMeanwhile(path) from None
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(temporary)
        written = self.signature(path)
        if written is None:
            raise ChangedMeanwhile(path)
        return written

    def remove(self, path: str, expected: tuple[int, int]) -> None:
        target = self._inside(path)
        if self.signature(path) != expected:
            raise ChangedMeanwhile(path)
        os.remove(target)

    def signature(self, path: str) -> tuple[int, int] | None:
        try:
            about = os.lstat(self.root / path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return (about.st_mtime_ns, about.st_size) if stat.S_ISREG(about.st_mode) else (0, -1)

    def _inside(self, path: str) -> Path:
        """Raises RopewalkError for every path that is not below the directory, or that a link leads elsewhere."""
        if not path or not all(is_synced(name, ()) for name in path.split("/")):
            raise RopewalkError(f"{path!r} is no path of a file below {self.root}.", code="SYNC_FAILED")
        for above in [*parents(path), path]:
            if os.path.islink(self.root / above):
                raise RopewalkError(f"{above} is a link: it is not synced.", code="SYNC_FAILED")
        return self.root / path


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

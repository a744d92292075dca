"""The options in the header of a script that this client carries out: those of package sync, and whether files are searched for. The
server reads all others."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ropewalk.batch.found_file import JobFile
from ropewalk.package_sync.options import FailOn

#: The server's rule for headers (domain/batch-header.ts).
_LINE = re.compile(r"^\s*(?:#+|//)\s*(?:ROPEWALK|COILED)(?![A-Za-z0-9_])[ \t]*:?(.*)$")
_OPTION = re.compile(r"^(?:--)?([A-Za-z][A-Za-z0-9_-]*)(?:\s*=\s*(?=\S)|\s+|=?$)(.*)$")
_MAX_LINE = 100
_MAX_BYTES = 64 * 1024
_FLAGS = frozenset({"no-package-sync", "package-sync-strict", "no-implicit-file-upload"})
_LISTS = frozenset({"package-sync-ignore", "package-sync-only", "package-sync-conda-extras"})
#: Header options that select the tasks' runtime: then there is no package sync by default.
RUNTIMES = frozenset({"container", "software", "run-on-host"})


class SyncHeader:
    """The package sync options of the first script in the command that has a header."""

    def __init__(self, command: Sequence[str], files: Sequence[JobFile]) -> None:
        self._options = _read(_header_of(command, files))

    @property
    def names(self) -> list[str]:
        """Names of the options that this client carries out."""
        return sorted(self._options.keys() - RUNTIMES)

    @property
    def runtime(self) -> bool:
        return any(self._options.get(name, ["false"])[-1].lower() not in ("false", "0") for name in RUNTIMES)

    def flag(self, name: str) -> bool:
        return name in self._options and self._options[name][-1].lower() not in ("false", "0")

    def more(self, name: str, given: Collection[str] | None) -> Collection[str] | None:
        """Lists accumulate. A text is left to its validation."""
        listed = [one.strip() for value in self._options.get(name, []) for one in value.split(",") if one.strip()]
        return given if not listed or isinstance(given, str) else [*listed, *(given or ())]

    def fail_on(self, given: FailOn) -> Any:
        return self._options.get("package-sync-fail-on", [given])[-1] if given == "critical-only" else given


def delimiter_in(command: Sequence[str], files: Sequence[JobFile]) -> str | None:
    """Of the inputs, in the first script of the command that has a header."""
    return next(iter(reversed(_read(_header_of(command, files), ["map-over-delimiter"]).get("map-over-delimiter", []))), None)


def _header_of(command: Sequence[str], files: Sequence[JobFile]) -> list[str]:
    by_path = {file["path"]: file for file in files}
    found = (_matches(file) for word in dict.fromkeys(command) if (file := by_path.get(re.sub(r"^(\./)+", "", word))) is not None)
    return next((lines for lines in found if lines), [])


def names_of(file: JobFile) -> set[str]:
    """Names of all options in the header of a file."""
    matches = [_OPTION.match(line) for line in _matches(file)]
    return {match[1].replace("_", "-").lower() for match in matches if match is not None}


def options_of_script(words: Sequence[str], names: Collection[str]) -> dict[str, list[str]]:
    """The options among `names` in the header of the first script in the command that has one, with their values as
    written."""
    for word in dict.fromkeys(words):
        try:
            with Path(word).expanduser().open("rb") as script:
                found = _lines_of(script.read(_MAX_BYTES))
        except (OSError, ValueError, RuntimeError):
            continue
        if found:
            return _read(found, names)
    return {}


def _matches(file: JobFile) -> list[str]:
    return _lines_of(base64.b64decode(file["content"])[:_MAX_BYTES])


def _lines_of(text: bytes) -> list[str]:
    if b"\0" in text:
        return []
    lines = text.decode(errors="replace").removeprefix("\ufeff").splitlines()[:_MAX_LINE]
    return [match[1].strip() for line in lines if (match := _LINE.match(line)) is not None]


_OWN = _FLAGS | _LISTS | RUNTIMES | {"package-sync-fail-on"}


def _read(lines: Sequence[str], names: Collection[str] = _OWN) -> dict[str, list[str]]:
    options: dict[str, list[str]] = {}
    for line in lines:
        match = _OPTION.match(line)
        name = match[1].replace("_", "-").lower() if match else ""
        if match and name in names:
            value = re.sub(r"""^(["'])(.*)\1$""", r"\2", match[2].strip())
            options.setdefault(name, []).append(value)
    return options

"""What is printed: results on stdout, everything else on stderr. Text from tasks and other users is printed without control
characters: they can move the cursor, forge lines, or make a terminal send input."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from typing import Any

#: Sequences of ECMA-48: CSI, then strings up to their end, then two-character escapes.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
#: Characters that reverse the direction of text, and line separators.
_DIRECTIONS = frozenset(map(chr, [*range(0x2028, 0x202F), *range(0x2066, 0x206A)]))


def clean(text: str) -> str:
    """One line of text without terminal escapes and control characters."""
    kept = _ESCAPES.sub("", text)
    return "".join(one for one in kept if one == "\t" or (unicodedata.category(one) != "Cc" and one not in _DIRECTIONS))


def one_line(text: str) -> str:
    """Error messages of an installer have many lines."""
    return re.sub(r"\s*\n\s*", " | ", text.strip())


class Output:
    """On a terminal, a line of progress replaces the previous one."""

    def __init__(self) -> None:
        self._shown = ""

    def out(self, text: str) -> None:
        self._erase()
        self._write(sys.stdout, "\n".join(map(clean, text.split("\n"))))

    def json(self, value: Any, *, indent: int | None = 2) -> None:
        self._erase()
        self._write(sys.stdout, json.dumps(value, indent=indent))

    def err(self, text: str) -> None:
        self._erase()
        self._write(sys.stderr, "\n".join(map(clean, text.split("\n"))))

    def progress(self, text: str, detail: str = "") -> None:
        """`detail`, which changes all the time, is for terminals."""
        is_terminal = sys.stderr.isatty()
        line = clean(f"{text} {detail}".strip() if is_terminal else text)
        if line == self._shown:
            return
        self._erase()
        self._shown = line
        sys.stderr.write(line if is_terminal else f"{line}\n")
        sys.stderr.flush()

    def _erase(self) -> None:
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[J")
        self._shown = ""

    @staticmethod
    def _write(stream: Any, text: str) -> None:
        # Output of tasks need not fit the encoding of the terminal.
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()

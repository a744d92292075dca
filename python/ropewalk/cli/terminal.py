"""Output: results on stdout, everything else on stderr. Text from tasks and other users is printed without control
characters: they can move the cursor, forge lines, or make a terminal send input."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from ropewalk.printable import clean, clean_lines

def one_line(text: str) -> str:
    """Joins lines, because error messages of an installer have many."""
    return re.sub(r"\s*\n\s*", " | ", text.strip())


class Output:
    """On a terminal, a line of progress replaces the previous one."""

    def __init__(self) -> None:
        self._shown = ""

    def out(self, text: str) -> None:
        self._erase()
        self._write(sys.stdout, clean_lines(text))

    def json(self, value: Any, *, indent: int | None = 2) -> None:
        self._erase()
        self._write(sys.stdout, json.dumps(value, indent=indent))

    def err(self, text: str) -> None:
        self._erase()
        self._write(sys.stderr, clean_lines(text))

    def progress(self, text: str, detail: str = "") -> None:
        """`detail` changes all the time and is only shown on a terminal."""
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
        # Tasks' output may not fit the encoding of the terminal.
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()

"""Removes terminal control sequences from texts of tasks, servers and other users, which programs and tracebacks
print."""

from __future__ import annotations

import re
import unicodedata

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


def clean_lines(text: str) -> str:
    return "\n".join(map(clean, text.split("\n")))

"""The names that programs import, read from their text without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path


def names_in(text: bytes) -> set[str]:
    """The first parts of the names: `a` for `import a.b`. Empty for text that is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def names_of(programs: Iterable[Path]) -> set[str]:
    names: set[str] = set()
    for path in programs:
        try:
            names |= names_in(path.read_bytes())
        except OSError:
            continue
    return names

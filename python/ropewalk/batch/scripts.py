"""A command that is the text of a script."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def script_file(command: str | Sequence[str]) -> Iterator[Path]:
    """A file with this text; its name selects the interpreter. Raises TypeError for words."""
    if not isinstance(command, str):
        raise TypeError("command_as_script: command is the text of a script, not a list of words")
    if not command.strip():
        raise ValueError("command is empty")
    with tempfile.TemporaryDirectory(prefix="ropewalk-script-") as directory:
        path = Path(directory) / "command.sh"
        path.write_text(command)
        yield path

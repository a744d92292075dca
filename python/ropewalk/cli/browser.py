"""Opens a link in a browser without its token on a command line, which other users of the machine can read."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from pathlib import Path

from ropewalk.cli.session import output
from ropewalk.notebook.state import state_directory


def open_browser(url: str, *, is_asked: bool) -> None:
    """Opens a private file that redirects the browser to the link, as Jupyter does. Does nothing without a display,
    unless it `is_asked` for: a text browser would take over this terminal."""
    has_display = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if not has_display and not is_asked:
        return
    directory = state_directory()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in directory.glob("open-*.html"):
        old.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix="open-", suffix=".html", dir=directory)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={html.escape(url)}"><p>Jupyter opens.')
    if not webbrowser.open(Path(name).as_uri(), new=2):
        output.err("No browser was found: open the link by hand.")

"""Prepares a notebook's start besides the API: the environment of this process for a new notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ropewalk.client_api import ClientApi
from ropewalk.notebook import start
from ropewalk.notebook.start import StartedNotebook
from ropewalk.package_sync.modules import module_roots
from ropewalk.package_sync.options import PackageSyncOptions
from ropewalk.software import make_software


def launch(
    api: ClientApi,
    name: str,
    body: Mapping[str, Any],
    packages: PackageSyncOptions | None,
    *,
    files: Path,
    say: Callable[[str], None],
    warn: Callable[[str], None],
    until: float,
) -> StartedNotebook:
    """The open notebook of this name, or a new one, whose Jupyter may still be starting. `files`: the directory of
    the notebooks, whose modules are files of the notebook. `until`: time.monotonic."""
    view = start.find(api, name)
    if view is not None and start.is_usable(view):
        say(f"Notebook {name} is open already (cluster {view['number']}): its machine and software stay as they are.")
        return StartedNotebook(view["number"], name, True)
    request = dict(body)
    if packages is not None:
        # As a part of the environment, modules beside the notebooks would never be updated.
        roots = [root for root in module_roots() if root != files.resolve()]
        software, is_added = start.with_jupyterlab(make_software(api, packages, say, until, warn=warn, roots=roots))
        if is_added:
            say("Package sync: jupyterlab is added, because this environment has none")
        request["software"] = software
    made = start.create(api, name, request, say, until)
    say(f"Notebook {name} is {'open already' if made.existing else 'created'} (cluster {made.number})")
    return made


def directory_to_sync(path: str | Path) -> Path:
    """Raises NotADirectoryError, and ValueError for a directory much larger than one project."""
    directory = Path(path).expanduser()
    if not directory.is_dir():
        raise NotADirectoryError(f"{path} is no directory")
    directory = directory.resolve()
    if directory in (Path.home().resolve(), Path(directory.anchor)):
        raise ValueError(f"{directory} is too much. Sync the directory of one project.")
    return directory

"""`ropewalk notebook ...`."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ropewalk.cli.browser import open_browser
from ropewalk.cli.errors import OK, Interrupted, as_options
from ropewalk.cli.formats import format_cost, format_table, format_time
from ropewalk.cli.notebook_options import body_of, directory_of, names_of, package_sync_of, with_notebook_options
from ropewalk.cli.options import connect, flag, option, with_connection, with_format
from ropewalk.cli.session import output, until_interrupted
from ropewalk.client_api import ClientApi
from ropewalk.errors import ClusterFailedError, RopewalkError
from ropewalk.notebook import start as notebooks
from ropewalk.notebook import state
from ropewalk.notebook.launch import launch
from ropewalk.notebook.session import follow, make_sync, sync_all
from ropewalk.notebook.start import StartedNotebook, cluster_name, default_name, short_name
from ropewalk.notebook.sync import Sync
from ropewalk.package_sync.options import PackageSyncOptions

_TIMEOUT_S = 1_200.0
_NAME = click.argument("name", required=False)

_START = """Start Jupyter on an instance, with the Python environment of this command. NAME: of the notebook; without, one of its own for
the current directory. An open notebook of that name is used again.

Ctrl-C syncs a last time and stops the notebook. When the terminal or the network is lost, it goes on until its idle timeout: give the
same command again to return to it.

\b
  ropewalk notebook start --sync
  ropewalk notebook start analysis --vm-type m6i.4xlarge --sync ~/analysis
"""


@click.command("start", help=_START)
@_NAME
@with_notebook_options
@with_connection
@with_format
def start(name: str | None, **flags: Any) -> int:
    try:
        directory, body, packages = directory_of(flags["sync"]), body_of(flags), package_sync_of(flags)
    except (TypeError, ValueError, OSError) as error:
        raise click.UsageError(_as_flags(str(error))) from error
    if flags["sync_ignore"] and directory is None:
        raise click.UsageError("--sync-ignore: needs --sync")
    api = _connect(flags)
    with until_interrupted(lambda: "Interrupted. The notebook may have been created: see ropewalk notebook list"):
        notebook = _start(api, _name_of(name, flags["named"]), body, packages, flags)
    ignored = names_of(flags["sync_ignore"])
    sync = None if directory is None else make_sync(api, notebook.number, directory, ignored, output.err)
    with _counted_interrupts() as interrupts:
        try:
            if sync is not None:
                output.progress(f"Syncing {directory}")
                done = sync_all(sync, is_last=False)
                output.err(f"{directory} is synced: {done.sent} files sent, {done.fetched} fetched")
            elif known := state.synced_directories(api.url, notebook.number):
                output.err(f"note: this notebook was synced with {known[0]}; to go on: --sync {known[0]}")
            _show_link(api, notebook, flags)
            return _detach(notebook, sync) if flags["detach"] else _stay(api, notebook, sync, interrupts)
        except KeyboardInterrupt:
            raise _left(notebook) from None


@click.command("list", help="List your notebooks, and those of others in the workspace. Times are local.")
@with_connection
@with_format
def list_notebooks(output_format: str, **connection: Any) -> None:
    found: Any = notebooks.list_notebooks(connect(**connection))
    if output_format == "json":
        output.json(found)
    elif not found:
        output.err("There are no open notebooks. Start one: ropewalk notebook start")
    else:
        columns = [("Name", "<"), ("Cluster", ">"), ("State", "^"), ("Created", ">"), ("Approx Cloud Cost", ">"), ("User", "<")]
        rows = [
            [short_name(one["name"]), str(one["number"]), one["status"], format_time(one["createdAt"]), format_cost(one.get("cost")), one["user"]]
            for one in found
        ]
        output.out(format_table(columns, rows))


@click.command("link", help="Print a link to a notebook. It signs its opener in and allows running code there: do not share it.")
@_NAME
@with_connection
@with_format
def link(name: str | None, **flags: Any) -> None:
    api = _connect(flags)
    found = notebooks.link(api, _number_of(api, _name_of(name, None)))
    if flags["output_format"] == "json":
        output.json(found)
    else:
        output.out(found["url"])
        output.err(f"It is valid until {format_time(found['expiresAt'])}: do not share it.")


@click.command("stop", help="Sync a notebook's files a last time, where they were synced on this machine, and stop it.")
@_NAME
@option("--sync", is_flag=False, flag_value=".", metavar="[DIR]", help="sync with this directory, also if it was not synced before")
@flag("--no-sync", help="stop it at once; its files are deleted with it")
@with_connection
@with_format
def stop(name: str | None, sync: str | None, no_sync: bool, **flags: Any) -> None:
    if sync is not None and no_sync:
        raise click.UsageError("--sync and --no-sync exclude each other")
    api = _connect(flags)
    wanted = _name_of(name, None)
    number = _number_of(api, wanted)
    given = directory_of(sync)
    directories = [] if no_sync else [given] if given is not None else state.synced_directories(api.url, number)
    for directory in directories:
        _sync_last(make_sync(api, number, directory, [], output.err), wanted, directory)
    _stop(api, StartedNotebook(number, wanted, True))
    if flags["output_format"] == "json":
        output.json({"number": number, "name": cluster_name(wanted), "synced": [str(one) for one in directories]})


COMMANDS = [start, list_notebooks, link, stop]


def _connect(flags: Mapping[str, Any]) -> ClientApi:
    return connect(flags["api_url"], flags["token_file"], flags["workspace"])


def _name_of(argument: str | None, named: str | None) -> str:
    if argument is not None and named is not None and argument != named:
        raise click.UsageError("the argument NAME and --name differ: give one of them")
    return short_name(argument or named or default_name(Path.cwd()))


def _number_of(api: ClientApi, name: str) -> int:
    found = notebooks.find(api, name)
    if found is None:
        hint = "ropewalk notebook list shows the open ones."
        raise RopewalkError(f"no open notebook has the name {name}", code="NOT_FOUND", status=404, hint=hint)
    return found["number"]


def _start(
    api: ClientApi, name: str, body: dict[str, Any], packages: PackageSyncOptions | None, flags: Mapping[str, Any]
) -> StartedNotebook:
    until = time.monotonic() + (flags["timeout"] or _TIMEOUT_S)
    notebook = launch(api, name, body, packages, files=Path.cwd(), say=output.err, warn=_warn, until=until)
    try:
        notebooks.wait_for_jupyter(api, notebook.number, lambda text: output.progress(f"Notebook {name}: {text}"), until)
    except KeyboardInterrupt:
        if notebook.existing:
            raise Interrupted(f"Notebook {name} goes on starting. To stop it: ropewalk notebook stop {name}") from None
        notebooks.stop(api, notebook.number)
        raise Interrupted(f"Notebook {name} was starting, and is stopped.") from None
    return notebook


def _show_link(api: ClientApi, notebook: StartedNotebook, flags: Mapping[str, Any]) -> None:
    found = notebooks.link(api, notebook.number)
    if flags["output_format"] == "json":
        output.json({"number": notebook.number, "name": cluster_name(notebook.name), "existing": notebook.existing, **found})
    else:
        output.err(f"Jupyter is ready. The link is valid until {format_time(found['expiresAt'])}, do not share it:")
        output.out(found["url"])
    output.err(f"Another link: ropewalk notebook link {notebook.name}")
    opens = flags["opens"]
    if opens or (opens is None and not flags["detach"] and sys.stderr.isatty()):
        open_browser(found["url"], is_asked=bool(opens))


def _detach(notebook: StartedNotebook, sync: Sync | None) -> int:
    if sync is not None:
        output.err("Files are synced again while `ropewalk notebook start --sync` runs, and by `ropewalk notebook stop`.")
    output.err(f"Stop it:      ropewalk notebook stop {notebook.name}")
    return OK


def _stay(api: ClientApi, notebook: StartedNotebook, sync: Sync | None, interrupts: Callable[..., int]) -> int:
    what = "sync a last time and stop the notebook: save what is open in JupyterLab first" if sync else "stop the notebook"
    output.err(f"Press Ctrl-C to {what}.")
    try:
        follow(api, notebook.number, sync, output.err, lambda: interrupts() > 0)
        while sync is None and not _is_sure():
            interrupts(reset=True)
            follow(api, notebook.number, sync, output.err, lambda: interrupts() > 0)
    except ClusterFailedError as error:
        state.forget(api.url, notebook.number)
        hint = "What was synced before is here." if sync else None
        raise ClusterFailedError(error.message, code=error.code, hint=hint) from None
    if sync is not None:
        output.err("The last sync; press Ctrl-C again to leave the notebook running instead.")
        _sync_last(sync, notebook.name, None)
    _stop(api, notebook)
    return OK


def _sync_last(sync: Sync, name: str, directory: Path | None) -> None:
    """Raises RopewalkError and keeps the notebook running, because its files are deleted with it."""
    try:
        done = sync_all(sync, is_last=True)
    except RopewalkError as error:
        hint = f"The notebook goes on. Try again, or give up what is only there: ropewalk notebook stop {name} --no-sync"
        raise RopewalkError(error.message, code=error.code, hint=hint) from None
    where = "" if directory is None else f" with {directory}"
    output.err(f"Synced{where}: {done.sent} files sent, {done.fetched} fetched, {done.removed} removed, {done.conflicts} conflicts")
    if done.only_there:
        output.err(f"warning: left out, and deleted with the server: {', '.join(done.only_there[:20])}")


def _stop(api: ClientApi, notebook: StartedNotebook) -> None:
    notebooks.stop(api, notebook.number)
    state.forget(api.url, notebook.number)
    output.err(f"Notebook {notebook.name} is stopping.")


def _is_sure() -> bool:
    """Without sync, the notebook's changes are lost."""
    if not sys.stdin.isatty():
        return True
    try:
        return click.confirm("Stop the notebook? Its files are deleted with it", default=True, err=True)
    except click.Abort:
        return True


def _left(notebook: StartedNotebook) -> Interrupted:
    return Interrupted(
        f"Left: notebook {notebook.name} goes on until its idle timeout. "
        f"To return: ropewalk notebook start {notebook.name}. To stop it: ropewalk notebook stop {notebook.name}"
    )


@contextmanager
def _counted_interrupts() -> Iterator[Callable[..., int]]:
    """The first Ctrl-C ends a wait, not a transfer; the second one raises KeyboardInterrupt."""
    count = 0

    def handle(*_: Any) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise KeyboardInterrupt

    def interrupts(reset: bool = False) -> int:
        nonlocal count
        count = 0 if reset else count
        return count

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def _warn(text: str) -> None:
    output.err(f"warning: {as_options(text)}")


def _as_flags(text: str) -> str:
    """Replaces Python arguments about machines by these options."""
    text = text.replace("scheduler_", "").replace("worker_", "").replace("n_workers", "--workers")
    return as_options(text)

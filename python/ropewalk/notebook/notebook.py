"""A notebook as an object: the equivalent of `ropewalk notebook start`, `link` and `stop` for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ropewalk.amounts import worker_count
from ropewalk.batch.paths import connect
from ropewalk.client_api import ClientApi
from ropewalk.durations import Duration, seconds_of
from ropewalk.errors import RopewalkError
from ropewalk.machines import CLUSTER_MACHINES, ClusterMachines, cluster_fields, refuse_unknown
from ropewalk.notebook import start, state
from ropewalk.notebook.launch import directory_to_sync, launch
from ropewalk.notebook.session import make_sync, sync_all
from ropewalk.notebook.start import StartedNotebook, default_name, short_name
from ropewalk.package_sync.options import read_options
from ropewalk.printable import clean_lines
from ropewalk.views import ClusterView
from ropewalk.workspaces import workspace_name

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_TIMEOUT_S = 1_200.0


class Notebook:
    """Jupyter on one instance, with the Python environment of this process.

    Sends no request until `start`, or `with`. Its methods block, and need no event loop.

    Parameters
    ----------
    name: of the notebook; by default one of its own for the current directory. An open notebook of that name is used again.
    sync: a directory whose files are synced between here and the server when the notebook starts, when `sync_files`
        is called and when it stops.
    sync_ignore: names of files and directories to exclude.
    n_workers: Dask workers on instances of their own; with 0 one runs beside Jupyter.
    software, container: a named environment, or an image, with jupyterlab, instead of package sync.
    package_sync_ignore: names of packages and modules to exclude.
    environ: environment variables of the notebook; sealed, and shown nowhere.
    idle_timeout: the server ends the notebook after this long without a computation or an open JupyterLab.
    max_cost: the server ends it when it has cost this much, in US dollars.
    private_to_creator: False lets other users of the workspace run code on it.
    timeout: limit for the start; 20 minutes by default. When it expires, ClusterTimeoutError is raised and the
        notebook continues starting.
    workspace, account, api_url, token, quiet: as for `Cluster`, as are the arguments about machines and network.

    Examples
    --------
    >>> with ropewalk.Notebook("analysis", sync="~/analysis") as notebook:
    ...     print(notebook.link())
    ...     input("Press Enter to stop it: ")
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        sync: str | Path | None = None,
        sync_ignore: Collection[str] = (),
        n_workers: int = 0,
        software: str | None = None,
        container: str | None = None,
        package_sync_ignore: Collection[str] | None = None,
        environ: Mapping[str, str] | None = None,
        idle_timeout: Duration = "4 hours",
        max_cost: float | None = None,
        private_to_creator: bool = True,
        timeout: Duration = _TIMEOUT_S,
        workspace: str | None = None,
        account: str | None = None,
        api_url: str | None = None,
        token: str | None = None,
        quiet: bool = False,
        **machines: Unpack[ClusterMachines],
    ) -> None:
        refuse_unknown(machines, CLUSTER_MACHINES | set(Notebook.__init__.__annotations__))
        if software is not None and container is not None:
            raise ValueError("software and container both say what the notebook runs in: give one of them")
        if isinstance(sync_ignore, str):
            raise TypeError(f'sync_ignore is {sync_ignore!r}: give a list of names, as in ["{sync_ignore}"]')
        workers = worker_count(n_workers)
        #: Without the prefix `notebook-` of its cluster.
        self.name = short_name(name or default_name(Path.cwd()))
        self._directory = None if sync is None else directory_to_sync(sync)
        self._ignored = list(sync_ignore)
        is_chosen = software is not None or container is not None
        if is_chosen and package_sync_ignore:
            raise ValueError("package_sync_ignore: software and container replace package sync")
        self._packages = read_options(None, package_sync_ignore, None, False, default=not is_chosen)
        given = {
            "workers": workers,
            # `Client()` in a notebook connects to this cluster: without a worker its computations would wait
            # forever.
            "extraWorkerOnScheduler": True if workers == 0 else None,
            "softwareName": software,
            "container": container,
            "secretEnv": dict(environ or {}) or None,
            "idleTimeout": seconds_of(idle_timeout, "idle_timeout"),
            "maxCost": max_cost,
            "privateToCreator": private_to_creator,
            **cluster_fields(machines),
        }
        self._body = {key: value for key, value in given.items() if value is not None}
        self._timeout_s = seconds_of(timeout, "timeout")
        self._quiet, self._shown = quiet, ""
        self._connection = (api_url, token, workspace_name(workspace, account))
        self._client: ClientApi | None = None
        self._started: StartedNotebook | None = None

    @property
    def number(self) -> int | None:
        """Number of its cluster, in the API and on the command line; None before the start."""
        return None if self._started is None else self._started.number

    def start(self) -> Self:
        """Starts it, or finds the open one of its name, waits for Jupyter, and syncs. Raises RopewalkError:
        ClusterFailedError with the reason when it cannot start, NAME_TAKEN when another user has the name."""
        if self._started is None:
            until = time.monotonic() + self._timeout_s
            files = self._directory or Path.cwd()
            self._started = launch(
                self._api(), self.name, self._body, self._packages, files=files, say=self._say, warn=self._say, until=until
            )
            start.wait_for_jupyter(self._api(), self._started.number, self._show, until)
            self.sync_files()
        return self

    def link(self) -> str:
        """A link to JupyterLab, valid for minutes. It signs its opener in, and allows running code there: do not share it."""
        return start.link(self._api(), self._open())["url"]

    def sync_files(self) -> None:
        """Syncs the files between here and the server; does nothing without `sync`. Raises RopewalkError
        SYNC_FAILED."""
        self._sync(is_last=False)

    def stop(self, *, sync: bool = True) -> None:
        """Syncs a last time, unless `sync` is False, and ends the notebook with its files. Raises RopewalkError
        SYNC_FAILED and keeps the notebook running. No effect on an ended one."""
        number = self._open()
        if sync:
            self._sync(is_last=True)
        start.stop(self._api(), number)
        state.forget(self._api().url, number)
        self._started = None
        self._say(f"Notebook {self.name} is stopping.")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stops it; one that was open before is synced, and continues."""
        if self._started is None:
            return
        if self._started.existing:
            self.sync_files()
        else:
            self.stop()

    def __repr__(self) -> str:
        return f"<Notebook {self.name}: {'not started' if self._started is None else f'cluster {self.number}'}>"

    def _open(self) -> int:
        """Also finds one that another program has started."""
        if self._started is None:
            found = start.find(self._api(), self.name)
            if found is None:
                hint = "start() starts it; ropewalk.list_notebooks() shows the open ones."
                raise RopewalkError(f"No open notebook has the name {self.name}.", code="NOT_FOUND", hint=hint, status=404)
            self._started = StartedNotebook(found["number"], self.name, True)
        return self._started.number

    def _sync(self, *, is_last: bool) -> None:
        if self._directory is not None:
            sync = make_sync(self._api(), self._open(), self._directory, self._ignored, self._say)
            done = sync_all(sync, is_last=is_last)
            self._say(f"Synced {self._directory}: {done.sent} files sent, {done.fetched} fetched, {done.removed} removed")
            if done.only_there and is_last:
                self._say(f"Left out, and deleted with the server: {', '.join(done.only_there[:20])}")

    def _api(self) -> ClientApi:
        """The first call refuses a token of another workspace."""
        if self._client is None:
            self._client = connect(*self._connection)
        return self._client

    def _show(self, text: str) -> None:
        if text != self._shown:
            self._shown = text
            self._say(f"Notebook {self.name}: {text}")

    def _say(self, text: str) -> None:
        if not self._quiet:
            print(clean_lines(text), file=sys.stderr)


def list_notebooks(*, api_url: str | None = None, token: str | None = None) -> list[ClusterView]:
    """The open notebooks of the workspace, newest first; `name` has the prefix `notebook-`."""
    return start.list_notebooks(connect(api_url, token))

"""The options of `ropewalk notebook start`, most of them named as in `coiled notebook start`, and the resulting
request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ropewalk.amounts import worker_count
from ropewalk.cli.environment_files import read_registry_auth, read_variables
from ropewalk.cli.options import COUNT, F, TIMEOUT, flag, option, together
from ropewalk.cli.run_options import DOLLARS, INSTANCES, TAG, words_of
from ropewalk.containers import registry_credentials, setup_script
from ropewalk.durations import seconds_of
from ropewalk.machines import cluster_fields
from ropewalk.notebook.launch import directory_to_sync
from ropewalk.package_sync.options import PackageSyncOptions, read_options

_OPTIONS: list[Any] = [
    option("--name", "named", metavar="NAME", help="as the argument NAME"),
    option("--sync", is_flag=False, flag_value=".", metavar="[DIR]", help="keep the files of a directory the same here and on the server (without DIR: the current one)"),
    option("--sync-ignore", metavar="NAMES", multiple=True, help="names of files and directories that --sync leaves out (repeatable, or a,b)"),
    option("--workers", metavar="N", type=COUNT, default=0, help="Dask workers on instances of their own; without, one runs beside Jupyter"),
    option("--software", metavar="NAME", help="named environment with jupyterlab (ropewalk env list), instead of package sync"),
    option("--container", metavar="IMAGE", help="image of a container with jupyterlab and Dask, instead of package sync"),
    option("--registry-auth", metavar="PATH", help="file with credentials of the image's registry, as Docker's config.json"),
    option("--package-sync-ignore", metavar="NAMES", multiple=True, help="packages to leave out (repeatable)"),
    option("--package-sync-only", metavar="NAMES", multiple=True, help="the only packages to send (repeatable)"),
    flag("--package-sync-strict", help="nothing may be left out"),
    option("--package-sync-conda-extras", metavar="NAMES", multiple=True, help="packages on conda-forge that are not here (repeatable)"),
    option("--host-setup-script", metavar="PATH", help="script that each instance runs once, before anything else"),
    option("-e", "--env", metavar="KEY=val", multiple=True, help="environment variable of the notebook (repeatable); KEY alone takes the value from your environment"),
    option("--secret-env", metavar="KEY=val", multiple=True, help="like --env, for secrets: stored encrypted (repeatable)"),
    option("--idle-timeout", metavar="DURATION", default="4 hours", help="stop the notebook after this long without a computation or an open JupyterLab"),
    option("--max-lifetime", metavar="DURATION", help="stop the notebook after this long"),
    option("--max-cost", metavar="DOLLARS", type=DOLLARS, help="stop the notebook when it has cost this much, in US dollars"),
    option("--vm-type", metavar="TYPES", multiple=True, help="acceptable instance type (repeatable, or a,b)"),
    *INSTANCES,
    flag("--arm", help="use ARM processors"),
    option("--spot-policy", type=click.Choice(["on-demand", "spot", "spot_with_fallback"]), help="market of the workers; the notebook's instance is always on-demand"),
    option("--wait-for-capacity", metavar="DURATION", help="retry for this long while the cloud has no capacity, e.g. 6h"),
    option("-t", "--tag", metavar="KEY=VALUE", type=TAG, multiple=True, help="tag of the instances in the cloud account (repeatable)"),
    click.option("--private/--shared", default=True, help="whether other users of the workspace may not or may run code on it (default: --private)"),
    click.option("--open/--no-open", "opens", default=None, help="whether to open JupyterLab in a browser (default: on a terminal with a display)"),
    flag("--detach", "--no-block", help="print the link and leave the notebook running until its idle timeout"),
    option("--timeout", type=TIMEOUT, help="maximum time to wait for the start, e.g. 90s or 5m (default: 20m)"),
]


def with_notebook_options(function: F) -> F:
    decorate: Any = together(_OPTIONS)
    return decorate(function)  # type: ignore[no-any-return]


def names_of(texts: Any) -> list[str]:
    return [one for text in texts for one in words_of(text)]


def directory_of(text: str | None) -> Path | None:
    if text is None:
        return None
    try:
        return directory_to_sync(text)
    except NotADirectoryError as error:
        raise click.UsageError(f"--sync: {error}. Write the name of the notebook before --sync.") from None
    except ValueError as error:
        raise click.UsageError(f"--sync: {error}") from None


def package_sync_of(flags: Mapping[str, Any]) -> PackageSyncOptions | None:
    """None when another option selects the notebook's runtime. Raises TypeError and ValueError."""
    chosen = [name for name in ("software", "container") if flags[name] is not None]
    if len(chosen) > 1:
        raise ValueError("--software and --container both say what the notebook runs in: give one of them")
    lists = {name: names_of(flags[f"package_sync_{name}"]) for name in ("ignore", "only", "conda_extras")}
    if chosen and (any(lists.values()) or flags["package_sync_strict"]):
        raise ValueError(f"--{chosen[0]} replaces package sync: leave its options out")
    return read_options(
        None,
        lists["ignore"],
        lists["only"] or None,
        flags["package_sync_strict"],
        conda_extras=lists["conda_extras"],
        default=not chosen,
    )


def body_of(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The request without name and environment. Raises TypeError and ValueError."""
    workers = worker_count(flags["workers"])
    auth = flags["registry_auth"]
    lifetime = flags["max_lifetime"]
    body = {
        "workers": workers,
        # `Client()` in a notebook connects to this cluster: without a worker its computations would wait forever.
        "extraWorkerOnScheduler": True if workers == 0 else None,
        "softwareName": flags["software"],
        "container": flags["container"],
        "registryAuth": None if auth is None else registry_credentials(read_registry_auth(auth)),
        "hostSetupScript": setup_script(flags["host_setup_script"], None),
        "env": read_variables("--env", flags["env"], []),
        "secretEnv": read_variables("--secret-env", flags["secret_env"], []),
        "idleTimeout": seconds_of(flags["idle_timeout"], "--idle-timeout"),
        "maxLifetime": None if lifetime is None else seconds_of(lifetime, "--max-lifetime"),
        "maxCost": flags["max_cost"],
        "privateToCreator": flags["private"],
        **cluster_fields(_machines(flags, workers != 0)),
    }
    return {name: value for name, value in body.items() if value is not None}


def _machines(flags: Mapping[str, Any], has_workers: bool) -> dict[str, Any]:
    same = ("provider", "region", "zone", "spot_policy", "wait_for_capacity")
    found = {name: flags[name] for name in same if flags[name] is not None}
    if flags["tag"]:
        found["tag"] = [*flags["tag"]]
    if flags["arm"]:
        found["arm"] = True
    types = names_of(flags["vm_type"])
    each = {"vm_types": types or None, "cpu": flags["cpu"], "memory": flags["memory"], "disk_size": _disk(flags["disk_size"])}
    each["gpu"] = flags["gpu"] or None
    for role in ["scheduler", *(["worker"] if has_workers else [])]:
        found |= {f"{role}_{name}": value for name, value in each.items() if value is not None}
    return found


def _disk(text: str | None) -> str | int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,6}", text) else text

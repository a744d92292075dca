"""`ropewalk config ...`: the defaults of `ropewalk.Cluster` in the section `ropewalk` of Dask's configuration."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import dask
import yaml

import ropewalk
from ropewalk.cli.formats import format_table
from ropewalk.cli.options import with_format
from ropewalk.cli.session import output
from ropewalk.defaults import NOT_CONFIGURED

_SECTION = "ropewalk"


@click.command("list", help="Show the configured defaults of clusters, and where each comes from.")
@with_format
def list_values(output_format: str) -> None:
    found = dask.config.get(_SECTION, default=None) or {}
    rows = [(_key(name), value, _source(_key(name))) for name, value in found.items()]
    if output_format == "json":
        shown = [{"key": key, "value": _shown(key, value), "from": source} for key, value, source in rows]
        output.json(shown)
        return
    if not rows:
        return output.err(f"Nothing is configured. `ropewalk config set n-workers 4` writes to {_path()}.")
    titles = [("Key", "<"), ("Value", "<"), ("From", "<")]
    output.out(format_table(titles, [[key, str(_shown(key, value)), source] for key, value, source in rows]))


@click.command("set", help="Set a default of clusters in ropewalk.yaml of Dask's configuration.")
@click.argument("key")
@click.argument("value")
def set_value(key: str, value: str) -> None:
    name = _checked(key)
    try:
        parsed = yaml.safe_load(value)
    except yaml.YAMLError:
        raise click.UsageError(f"{value} is no YAML: write it as in the file, for example 4, [4, 20] or '20 minutes'") from None
    path = _path()
    _write(path, {**_read(path), name: parsed})
    output.err(f"{name} is {parsed!r} in {path}")
    source = _source(name)
    if source != str(path) and source.startswith("DASK_"):
        output.err(f"note: {source} is set, and wins over the file")


@click.command("unset", help="Remove a default of clusters from ropewalk.yaml of Dask's configuration.")
@click.argument("key")
def unset_value(key: str) -> None:
    path, name = _path(), _key(key)
    values = _read(path)
    if name not in values:
        raise click.UsageError(f"{name} is not in {path}")
    _write(path, {one: value for one, value in values.items() if one != name})
    output.err(f"{name} is removed from {path}")


def _checked(key: str) -> str:
    """As in the file."""
    name = _key(key).removeprefix(f"{_SECTION}.")
    if name == "token":
        raise click.UsageError("a token does not belong into Dask's configuration: `ropewalk login` stores one")
    known = {_key(one) for one in set(inspect.signature(ropewalk.Cluster).parameters) - NOT_CONFIGURED}
    if name in known:
        return name
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.7)
    raise click.UsageError(f"no argument of ropewalk.Cluster has the name {name}" + (f": did you mean {near[0]}?" if near else ""))


def _key(name: object) -> str:
    # The argument _n_worker_specs_per_host begins with what other names have between words.
    return str(name).replace("_", "-")


def _shown(key: str, value: Any) -> Any:
    return "(hidden)" if key in ("token", "environ", "registry-auth") else value


def _source(key: str) -> str:
    variable = f"DASK_{_SECTION}__{key}".replace("-", "_").upper()
    if any(name.upper() == variable or name.upper().startswith(f"{variable}__") for name in os.environ):
        return variable
    path = _path()
    return str(path) if key in _read(path) else "another file of Dask's configuration"


def _path() -> Path:
    """The directory that Dask reads last, so that its files win."""
    return Path(dask.config.PATH) / "ropewalk.yaml"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise click.UsageError(f"cannot read {path}: {error}") from None
    section = found.get(_SECTION) if isinstance(found, Mapping) else None
    return {_key(name): value for name, value in section.items()} if isinstance(section, Mapping) else {}


def _write(path: Path, values: Mapping[str, Any]) -> None:
    try:
        text = path.read_text("utf-8") if path.exists() else ""
        if any(line.lstrip().startswith("#") for line in text.splitlines()):
            raise click.UsageError(f"{path} has comments, which would be lost: edit it")
        others = {name: value for name, value in (yaml.safe_load(text) or {}).items() if name != _SECTION}
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_name(f"{path.name}.{os.getpid()}")
        # It may hold variables of clusters.
        with os.fdopen(os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            yaml.safe_dump({**others, **({_SECTION: dict(values)} if values else {})}, file, sort_keys=False)
        whole.replace(path)
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {error.strerror}") from None


COMMANDS = [list_values, set_value, unset_value]

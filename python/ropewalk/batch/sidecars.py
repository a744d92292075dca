"""Containers that run on the head instance of a job until it has ended: as dictionaries, or from a file of YAML or JSON, as in Coiled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ropewalk.batch.request import StrPath
from ropewalk.batch.split_words import words_of_line
from ropewalk.batch.text_yaml import read_text_yaml

_KNOWN = ("name", "image", "container", "command", "env", "environment", "ports")


def read_sidecars(spec: StrPath | None, given: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    """For a request; ValueError names the argument."""
    if spec is None:
        return None if given is None else [_read(_name_of(one), one, "scheduler_sidecars") for one in given]
    source = f"scheduler_sidecar_spec: {spec}"
    if Path(spec).suffix not in (".yaml", ".yml", ".json"):
        raise ValueError(f"{source} ends neither with .yaml nor with .json")
    try:
        # JSON is YAML.
        read = read_text_yaml(Path(spec).read_text("utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{source}: {str(error).splitlines()[0]}") from None
    listed = read if isinstance(read, list) else []
    entries = [*read.items()] if isinstance(read, Mapping) else [(_name_of(one), one) for one in listed]
    if not entries:
        raise ValueError(f"{source}: it names no container")
    return [_read(name, one, source) for name, one in entries]


def _name_of(one: Any) -> Any:
    return one.get("name") if isinstance(one, Mapping) else None


def _read(name: Any, one: Any, source: str) -> dict[str, Any]:
    if not isinstance(name, str) or not isinstance(one, Mapping):
        raise ValueError(f"{source}: each container needs a name, and an image")
    if "filestores" in one:
        raise ValueError(f"{source}: {name}: filestores are not kept for sidecars; let it write to a bucket")
    unknown = next((key for key in one if key not in _KNOWN), None)
    if unknown is not None:
        raise ValueError(f"{source}: {name}: {unknown} is not known; there are {', '.join(_KNOWN)}")
    image = _first(one, "container", "image")
    if not isinstance(image, str):
        raise ValueError(f"{source}: {name} has no image")
    read = {
        "name": name,
        "container": image,
        "command": _command(one.get("command"), f"{source}: {name}: command is neither text nor a list of words"),
        "env": _variables(_first(one, "env", "environment"), f"{source}: {name}: write variables as KEY: value"),
        "ports": _ports(one.get("ports"), f"{source}: {name}"),
    }
    return {key: value for key, value in read.items() if value}


def _first(one: Mapping[str, Any], *names: str) -> Any:
    return next((one[name] for name in names if one.get(name) is not None), None)


def _command(command: Any, wrong: str) -> list[str]:
    """Text is split as a shell splits it."""
    words = words_of_line(command) if isinstance(command, str) else [] if command is None else command
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, (str, int, float)) for word in words):
        raise ValueError(wrong)
    return [str(word) for word in words]


def _ports(ports: Any, where: str) -> list[int]:
    if ports is None:
        return []
    if not isinstance(ports, (list, tuple)):
        raise ValueError(f"{where}: ports is no list")
    for port in ports:
        if not (re.fullmatch("[0-9]{1,5}", str(port)) and 0 < int(port) < 65_536):
            raise ValueError(f"{where}: ports: {port} is no port; write a number from 1 to 65535")
    return [int(port) for port in ports]


def _variables(variables: Any, wrong: str) -> dict[str, str]:
    """A mapping, or a list of `KEY=value`, as in a file of Docker Compose."""
    if variables is None:
        return {}
    if not isinstance(variables, (Mapping, list, tuple)):
        raise ValueError(wrong)
    if isinstance(variables, Mapping):
        pairs = [*variables.items()]
    elif all(isinstance(one, str) and one.find("=") > 0 for one in variables):
        pairs = [tuple(one.split("=", 1)) for one in variables]
    else:
        raise ValueError(wrong)
    if any(not isinstance(value, (str, int, float, bool)) for _, value in pairs):
        raise ValueError(wrong)
    # As YAML writes them.
    return {str(key): str(value).lower() if isinstance(value, bool) else str(value) for key, value in pairs}

"""Compares versions: Dask's processes exchange pickles, so client and cluster should run the same versions."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version as installed
from typing import Any

_PAIR = ("dask", "distributed")


def matching_requirements(requirements: Sequence[str] | None) -> list[str]:
    """The requirements, with the Dask versions of this process unless they name others."""
    given = list(requirements or [])
    names = {match[0].lower() for one in given if (match := re.match(r"[A-Za-z0-9._-]+", one.strip()))}
    here = {name: installed(name) for name in _PAIR}
    # A development version is on no package index.
    if names.intersection(_PAIR) or not all(re.fullmatch(r"\d+(\.\d+)*", version) for version in here.values()):
        return given
    return given + [f"{name}=={version}" for name, version in here.items()]


def version_mismatch(there: Mapping[str, Any]) -> str | None:
    """A sentence when the scheduler's versions differ from those of this process. `there` is its answer to
    `versions`."""
    packages = there.get("packages", {})
    here = {"python": _minor(sys.version), **{name: installed(name) for name in _PAIR}}
    theirs = {"python": _minor(str(packages.get("python", "")))}
    theirs.update({name: str(packages.get(name)) for name in _PAIR})
    different = [f"{name} {theirs[name]} (here {here[name]})" for name in here if theirs[name] != here[name]]
    if not different:
        return None
    return (
        f"The cluster runs {', '.join(different)}. Computations may fail with unrelated errors: "
        "run this program with the cluster's versions, or name yours in requirements=[...]."
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])

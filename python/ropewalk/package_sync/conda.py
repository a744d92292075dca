"""Maps conda packages to their names on a package index."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from .names import canonical
from .problems import PackageSyncError

#: From conda-forge: names that differ on PyPI, programs and libraries that are not Python packages (and bindings
#: whose wheels lack the library), and conda's own packages. All other names are equal, or are not Python packages.
#: The command line reads this file too.
_NAMES = json.loads(Path(__file__).with_name("conda-names.json").read_text())
_ON_PYPI: dict[str, str] = _NAMES["onPypi"]
_NOT_PYTHON = frozenset(_NAMES["notPython"])
OWN = frozenset(_NAMES["own"])
_SPEC = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(.*)$")


def requirement_of(spec: str) -> str | None:
    """The requirement for a package index, as `torch==2.3.*` for `pytorch=2.3`; None when no index has the package."""
    text = spec.rpartition("::")[2].strip()
    match = _SPEC.match(text)
    if match is None:
        return None
    name, version = canonical(match[1]), match[2].partition(" ")[0] if match[2].startswith("=") else match[2]
    if name in _NOT_PYTHON or name.startswith(("lib", "r-", "cuda-", "_")) or name in OWN or name == "python":
        return None
    found = _ON_PYPI.get(name, name)
    if version.startswith("=") and not version.startswith("=="):
        # conda's `=2.3` is any 2.3; a build string follows another `=`.
        exact = version[1:].partition("=")[0].removesuffix("*").rstrip(".")
        return f"{found}=={exact}.*"
    return f"{found}{version.replace(' ', '')}"


def requested_without_python(installed: Collection[str], prefix: Path | None = None) -> list[str]:
    """Packages that the user installed with conda and that are not Python packages, so that no package index has
    them. `installed`: the names of the installed Python packages."""
    found: set[str] = set()
    for path in sorted(((prefix or Path(sys.prefix)) / "conda-meta").glob("*.json")):
        try:
            record = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        name = record.get("name") if isinstance(record, dict) else None
        if not isinstance(name, str) or not (record.get("requested_spec") or record.get("requested_specs")):
            continue
        if not {canonical(name), _ON_PYPI.get(canonical(name), "")} & set(installed) and name not in ("python", *OWN):
            found.add(name)
    return sorted(found)


def requirements_of(content: Any) -> tuple[list[str], str | None]:
    """The requirements of an environment.yml, and its Python version as in "3.12". Raises PackageSyncError when a
    package is on no package index."""
    listed = content.get("dependencies") if isinstance(content, dict) else content
    if not isinstance(listed, list) or not listed:
        raise PackageSyncError("conda: there is no list of dependencies", hint="Give an environment.yml, or a list of packages.")
    requirements: list[str] = []
    missing: list[str] = []
    python: str | None = None
    for one in listed:
        if isinstance(one, dict) and isinstance(one.get("pip"), list):
            requirements += [str(line) for line in one["pip"]]
        elif not isinstance(one, str):
            raise PackageSyncError(f"conda: {one!r} is no dependency", hint="Write names, as in pandas=2.2, or a list under pip.")
        elif match := re.match(r"^python\s*(?:=+\s*(3\.\d+)[\d.*]*)?$", one.strip()):
            python = match[1]
        elif one.strip() not in ("pip", "conda", "mamba"):
            requirement = requirement_of(one)
            if requirement is None:
                missing.append(one)
            else:
                requirements.append(requirement)
    if missing:
        raise PackageSyncError(
            f"conda: environments are built from package indexes, and none has {', '.join(missing)}.",
            hint="Build an image with them and give it as container, or leave them out.",
        )
    return requirements, python

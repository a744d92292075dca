"""Compares an existing cluster's environment, which stays unchanged, with this process."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle

from ropewalk.package_sync.installed import list_installed
from ropewalk.package_sync.modules import collect_modules, imported_names, module_roots
from ropewalk.package_sync.options import PackageSyncOptions
from ropewalk.package_sync.plan import UNCOMPARED, shortened
from ropewalk.package_sync.problems import PackageSyncError


class Environment(NamedTuple):
    #: Versions by name.
    packages: Mapping[str, str]
    #: SHA-256 by path.
    modules: Mapping[str, str]
    #: The names under which programs import a package, by its name. Empty for a scheduler.
    imports: Mapping[str, Sequence[str]] = {}


class Differences(NamedTuple):
    #: A clause about packages and modules of this process that the cluster lacks, or has in another version.
    text: str
    #: Modules that the cluster lacks, by import name.
    missing: Mapping[str, str]


async def environment_of(scheduler: Any, paths: Iterable[str]) -> Environment:
    """The scheduler's environment, which the workers share; includes only modules with these paths."""
    answer = await scheduler.run_function(
        function=cloudpickle.dumps(_reader()), args=cloudpickle.dumps((list(paths),)), kwargs=cloudpickle.dumps({}), wait=True
    )
    if answer["status"] != "OK":
        raise OSError("the scheduler could not read its environment")
    packages, modules = answer["result"]
    return Environment(packages, modules)


async def differences(scheduler: Any, options: PackageSyncOptions) -> Differences | None:
    """None when nothing differs, or the environment cannot be read."""
    try:
        here = await asyncio.to_thread(environment_here, options)
        there = await environment_of(scheduler, here.modules)
    except (OSError, PackageSyncError):
        return None
    text = difference(here, there)
    return None if text is None else Differences(text, missing_imports(here, there))


def environment_here(options: PackageSyncOptions) -> Environment:
    """Blocks. The environment that package sync would send, without the program itself, whose functions are sent
    with their tasks."""
    installed = [
        one
        for one in list_installed()
        if one.source != "system"
        and one.name not in UNCOMPARED | options.ignore
        and (options.only is None or one.name in options.only)
    ]
    packages = {one.name: one.version.partition("+")[0] for one in installed}
    roots = module_roots()
    found = collect_modules(roots, ignore=options.ignore, only=options.only, imported=imported_names(roots))
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    own = None if program is None else Path(program).name
    modules = {path: hashlib.sha256(content).hexdigest() for path, content in found.files.items() if path != own}
    return Environment(packages, modules, {one.name: one.imports() for one in installed})


def missing_imports(here: Environment, there: Environment) -> dict[str, str]:
    """Pure. A module of which the cluster has a part is not missing."""
    packages = {each: name for name, imports in here.imports.items() if name not in there.packages for each in imports}
    tops = {_top(path) for path in there.modules}
    return {**packages, **{_top(path): f"the module {_top(path)}" for path in here.modules if _top(path) not in tops}}


def difference(here: Environment, there: Environment) -> str | None:
    """Pure."""
    missing, changed = set[str](), set[str]()
    for path, digest in here.modules.items():
        if there.modules.get(path) != digest:
            (changed if path in there.modules else missing).add(_top(path))
    packages = [
        f"{name} {version} (there {there.packages[name]})" if name in there.packages else f"{name} {version} (not there)"
        for name, version in sorted(here.packages.items())
        if there.packages.get(name, "").partition("+")[0] != version
    ]
    parts = [
        *_listed("modules that it has not:", sorted(missing)),
        *_listed("modules that have changed:", sorted(changed - missing)),
        *_listed("packages", packages),
    ]
    return "; ".join(parts) or None


def _top(path: str) -> str:
    return path.partition("/")[0].removesuffix(".py")


def _listed(what: str, names: Sequence[str]) -> list[str]:
    return [f"{what} {shortened(names)}"] if names else []


def _reader() -> Any:
    """A function that is pickled by value, because the cluster may have no ropewalk."""

    def read(paths: list[str]) -> tuple[dict[str, str], dict[str, str]]:
        import hashlib
        import re
        import sys
        from importlib.metadata import distributions
        from pathlib import Path

        packages: dict[str, str] = {}
        for one in distributions():
            name = one.metadata["Name"]
            if name:
                packages.setdefault(re.sub(r"[-_.]+", "-", name).lower(), one.version)
        modules = {}
        for path in paths:
            file = next((Path(entry, path) for entry in sys.path if Path(entry, path).is_file()), None)
            if file is not None:
                modules[path] = hashlib.sha256(file.read_bytes()).hexdigest()
        return packages, modules

    return read

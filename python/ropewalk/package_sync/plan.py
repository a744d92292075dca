"""Decides which parts of a Python environment a cluster or a job gets. Independent of the server: the caller
uploads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .archives import PackageFile, files_of
from .conda import OWN, requested_without_python, requirement_of
from .imports import names_of
from .indexes import Index, find_indexes
from .installed import Installed, list_installed
from .modules import Modules, collect_modules, imported_names, module_roots
from .names import canonical
from .options import CRITICAL, PackageSyncOptions
from .problems import PackageSyncError
from .wheels import wheel_of_files, wheel_of_project

Level = Literal["critical", "warning", "info"]

#: The server's limit of one file.
MAX_FILE_BYTES = 16 * 1024 * 1024
#: The server's limit of excluded packages, for hints.
_MAX_LEFT_OUT = 300
#: Installers, which environments already include.
_NEVER = frozenset({"pip", "uv"})
#: Never true: as an override, a requirement with this marker removes a package for all that depend on it.
EXCLUDED = 'sys_platform == "excluded"'
#: Packages for a single other operating system.
_OF_OTHER_SYSTEMS = frozenset({"appnope", "macholib", "pypiwin32", "pywin32", "pywin32-ctypes", "pywinpty", "win32-setctime", "wmi"})
#: Packages of which a cluster has its own version, or none.
UNCOMPARED = _NEVER | OWN | _OF_OTHER_SYSTEMS | {"ropewalk", "setuptools", "wheel"}


@dataclass(frozen=True)
class LeftOut:
    """A package or module that the cluster does not get, and why. A `critical` one makes the start fail; the user
    asked to exclude `chosen` ones. `imports` are the names under which programs would import it."""

    level: Level | Literal["chosen"]
    package: str
    why: str
    imports: tuple[str, ...] = ()


@dataclass
class Plan:
    requirements: list[str] = field(default_factory=list)
    files: list[PackageFile] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)
    #: Further lines for the user.
    notes: list[str] = field(default_factory=list)


def make_plan(
    options: PackageSyncOptions,
    installed: Sequence[Installed] | None = None,
    *,
    roots: Sequence[Path] | None = None,
    programs: Sequence[Path] = (),
) -> Plan:
    """`roots`: directories of modules, by default those of this process. `programs`: scripts that will run, whose
    imports are read."""
    plan = Plan(indexes=find_indexes())
    packages = list_installed() if installed is None else installed
    for package in packages:
        if package.name in _NEVER:
            continue
        if package.name in options.ignore:
            # Otherwise a package that depends on it would install its newest version.
            plan.requirements.append(f"{package.name} ; {EXCLUDED}")
            _leave_out(plan, "chosen", package, "package_sync_ignore names it")
        elif options.only is None or package.name in options.only:
            _add(plan, package)
        else:
            _leave_out(plan, "chosen", package, "package_sync_only does not name it")
    _add_conda(plan, options, {package.name for package in packages})
    places = module_roots() if roots is None else roots
    brought = {canonical(name) for file in plan.files for name in top_level_of(file)}
    modules = collect_modules(
        places,
        ignore=options.ignore | brought,
        only=options.only,
        imported=imported_names(places) | names_of(programs),
    )
    _add_modules(plan, modules, options)
    return plan


def software_of(plan: Plan) -> dict[str, Any]:
    """The field `software` of a request."""
    left_out = [
        {"name": one.package[-200:], "why": one.why[:200], "imports": list(one.imports[:20])} for one in plan.left_out
    ]
    return {
        "requirements": plan.requirements,
        "pinned": True,
        "python": python_version(),
        # Not the link in a virtual environment, which is removed with it.
        **({"interpreter": os.path.realpath(sys.executable)} if os.path.isabs(sys.executable or "") else {}),
        "packageFiles": [{"name": file.name, "sha256": file.sha256} for file in plan.files],
        **({"leftOut": left_out[:_MAX_LEFT_OUT]} if left_out else {}),
        **({"indexes": [index.as_sent() for index in plan.indexes]} if plan.indexes else {}),
    }


def warnings_of(plan: Plan) -> list[str]:
    """Lines about differences between the cluster's environment and this one."""
    lines = [
        f"Package sync: {one.package} is left out: {one.why}"
        for one in plan.left_out
        if one.level in ("critical", "warning")
    ]
    if minor := [one.package for one in plan.left_out if one.level == "info"]:
        lines.append(f"Package sync: left out, because they are of this operating system: {shortened(minor)}")
    return [*lines, *(f"Package sync: {note}" for note in plan.notes)]


def summary_of(plan: Plan, uploaded: int) -> str:
    count = sum(EXCLUDED not in one for one in plan.requirements)
    own = f", {len(plan.files)} package files ({uploaded} uploaded)" if plan.files else ""
    modules = "1 module" if len(plan.modules) == 1 else f"{len(plan.modules)} modules"
    beside = f", {modules}: {shortened(plan.modules)}" if plan.modules else ""
    indexes = f", from {shortened([index.address for index in plan.indexes])}" if plan.indexes else ""
    return f"Package sync: Python {python_version()}, {count} packages{own}{beside}{indexes}"


def _add(plan: Plan, package: Installed) -> None:
    before = len(plan.left_out)
    _bring(plan, package)
    if len(plan.left_out) > before:
        plan.requirements.append(f"{package.name} ; {EXCLUDED}")


def _bring(plan: Plan, package: Installed) -> None:
    if package.name in _OF_OTHER_SYSTEMS or package.name.startswith("pyobjc"):
        _leave_out(plan, "info", package, "it exists for another operating system only")
    elif package.name in OWN:
        _leave_out(plan, "info", package, "it is a part of conda")
    elif package.source == "system":
        why = "the operating system's package manager has installed it; a virtual environment has its own packages"
        _leave_out(plan, _level(package, "info"), package, why)
    elif package.source == "index" and package.name != "ropewalk":
        public, _, local = package.version.partition("+")
        if local != "":
            plan.notes.append(f"{package.name} {package.version} is on no package index: the cluster gets {public}")
        plan.requirements.append(f"{package.name}=={public}")
    elif package.source == "url":
        plan.requirements.append(f"{package.name} @ {package.url}")
    else:
        wheel = wheel_of_project(package, cache_directory()) if package.source == "project" else wheel_of_files(package)
        if not _runs_on_linux(wheel.name):
            _leave_out(plan, _level(package, "warning"), package, f"{wheel.name} is built for this operating system")
        else:
            plan.files.append(wheel)


def _add_conda(plan: Plan, options: PackageSyncOptions, installed: Collection[str]) -> None:
    why = "it comes from conda and is no package of Python: use a container or an environment of conda for it"
    for spec in options.conda_extras:
        requirement = requirement_of(spec)
        if requirement is None:
            plan.left_out.append(LeftOut("warning", spec, why))
        elif canonical(requirement.partition("=")[0]) not in installed:
            plan.requirements.append(requirement)
    if options.only is None:
        for name in requested_without_python(installed):
            if canonical(name) not in options.ignore:
                plan.left_out.append(LeftOut("warning", name, why, (name.replace("-", "_"),)))


def _add_modules(plan: Plan, modules: Modules, options: PackageSyncOptions) -> None:
    plan.modules = modules.names
    for path in modules.shadowing:
        plan.left_out.append(LeftOut("warning", path, "it has the name of a module of Python's standard library"))
    for path in modules.too_large:
        plan.left_out.append(LeftOut("warning", path, "it is larger than 1 MiB: put data into a bucket", (Path(path).stem,)))
    for name, path in modules.skipped.items():
        named = canonical(name) in options.ignore
        why = "package_sync_ignore names it" if named else "package_sync_only does not name it"
        plan.left_out.append(LeftOut("chosen", path, why, (name,)))
    for name, path in modules.untracked.items():
        plan.left_out.append(LeftOut("chosen", path, ".gitignore names it", (name,)))
    if (archive := modules.archive()) is not None:
        plan.files.append(archive)


def _leave_out(plan: Plan, level: Level | Literal["chosen"], package: Installed, why: str) -> None:
    plan.left_out.append(LeftOut(level, package.name, why, package.imports()))


def check(plan: Plan, options: PackageSyncOptions) -> None:
    """Raises PackageSyncError when an exclusion makes the start fail."""
    for file in plan.files:
        if len(file.content) > MAX_FILE_BYTES:
            raise PackageSyncError(
                f"Package sync: {file.name} has {len(file.content) / 1024**2:.1f} MiB, and a file may have at most "
                f"{MAX_FILE_BYTES // 1024**2} MiB.",
                hint="Leave large data out of the package, or leave the package out: package_sync_ignore=[...].",
            )
    levels = {"critical-only": ("critical",), "warning-or-higher": ("critical", "warning")}
    fatal = ("critical", "warning", "info") if options.strict else levels.get(options.fail_on, ("critical", "warning", "info"))
    failed = [one for one in plan.left_out if one.level in fatal]
    if not failed:
        return
    listed = "; ".join(f"{one.package}: {one.why}" for one in failed)
    raise PackageSyncError(
        f"Package sync: the cluster cannot have all of this environment: {listed}",
        hint="Name what is not needed in package_sync_ignore=[...], or choose another package_sync_fail_on.",
    )


def top_level_of(file: PackageFile) -> set[str]:
    """Names that a wheel makes importable."""
    if not file.name.endswith(".whl"):
        return set()
    paths = [path for path in files_of(file.content) if not path.partition("/")[0].endswith((".dist-info", ".data"))]
    return {path.partition("/")[0].removesuffix(".py") for path in paths}


def python_version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def cache_directory() -> Path:
    """Cache of wheels that were built here."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "ropewalk" / "wheels"


def shortened(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _level(package: Installed, otherwise: Literal["warning", "info"]) -> Level:
    return "critical" if package.name in CRITICAL else otherwise


def _runs_on_linux(wheel: str) -> bool:
    platform = wheel.removesuffix(".whl").rpartition("-")[2]
    return platform == "any" or "linux" in platform

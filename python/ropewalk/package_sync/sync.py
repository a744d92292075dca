"""Decides what a cluster or a job gets of this process's environment, and uploads what no package index has."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ropewalk.client_api import ClientApi
from ropewalk.errors import RopewalkError
from ropewalk.package_sync.archives import PackageFile, files_of
from ropewalk.package_sync.installed import Installed, list_installed
from ropewalk.package_sync.modules import collect_modules, imported_names, module_roots
from ropewalk.package_sync.names import canonical
from ropewalk.package_sync.options import CRITICAL, PackageSyncOptions
from ropewalk.package_sync.wheels import wheel_of_files, wheel_of_project

#: Of one file, as the server takes it.
MAX_FILE_BYTES = 16 * 1024 * 1024
#: Installers, which bring themselves.
_NEVER = frozenset({"pip", "uv"})
#: Never true: as an override, a requirement with this marker takes a package out of all that depends on it.
_EXCLUDED = 'sys_platform == "excluded"'
#: Packages that exist for one other operating system only.
_OF_OTHER_SYSTEMS = frozenset({"appnope", "macholib", "pypiwin32", "pywin32", "pywin32-ctypes", "pywinpty", "win32-setctime", "wmi"})


@dataclass(frozen=True)
class LeftOut:
    """A package that the cluster does not get, and why. A `critical` one makes the start fail."""

    level: Literal["critical", "warning", "info"]
    package: str
    why: str


@dataclass
class Plan:
    requirements: list[str] = field(default_factory=list)
    files: list[PackageFile] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    #: Further lines for the user.
    notes: list[str] = field(default_factory=list)


def make_software(
    api: ClientApi,
    options: PackageSyncOptions,
    say: Callable[[str], None],
    until: float = math.inf,
    *,
    warn: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """The field `software` of a request. Blocks: it may build wheels, and uploads files. `say` gets lines for the
    user, `warn` those about what the cluster does not have as it is here.
    Raises RopewalkError (PACKAGE_SYNC) when something that is needed cannot be brought, ClusterTimeoutError when `until`
    (time.monotonic) does not allow another attempt of a request."""
    warn = warn or say
    plan = make_plan(options)
    for left_out in plan.left_out:
        if left_out.level != "info":
            warn(f"Package sync: {left_out.package} is left out: {left_out.why}")
    if minor := [one.package for one in plan.left_out if one.level == "info"]:
        warn(f"Package sync: left out, because they are of this operating system: {shortened(minor)}")
    for note in plan.notes:
        warn(f"Package sync: {note}")
    check(plan, options)
    uploaded = upload(api, plan.files, until)
    own = f", {len(plan.files)} package files ({uploaded} uploaded)" if plan.files else ""
    beside = f", the modules {shortened(plan.modules)}" if plan.modules else ""
    say(f"Package sync: Python {python_version()}, {sum(_EXCLUDED not in one for one in plan.requirements)} packages{own}{beside}")
    return {
        "requirements": plan.requirements,
        "pinned": True,
        "python": python_version(),
        # Not the link in a virtual environment, which goes with it.
        **({"interpreter": os.path.realpath(sys.executable)} if os.path.isabs(sys.executable or "") else {}),
        "packageFiles": [{"name": file.name, "sha256": file.sha256} for file in plan.files],
    }


def make_plan(options: PackageSyncOptions, installed: Sequence[Installed] | None = None) -> Plan:
    plan = Plan()
    packages = list_installed() if installed is None else installed
    for package in packages:
        if package.name in _NEVER:
            continue
        if package.name in options.ignore:
            # Without this, a package that depends on it would bring its newest version.
            plan.requirements.append(f"{package.name} ; {_EXCLUDED}")
            continue
        if options.only is None or package.name in options.only:
            _add(plan, package)
    roots = module_roots()
    brought = {canonical(name) for file in plan.files for name in top_level_of(file)}
    modules = collect_modules(roots, ignore=options.ignore | brought, only=options.only, imported=imported_names(roots))
    plan.modules = modules.names
    for path in modules.shadowing:
        plan.left_out.append(LeftOut("warning", path, "it has the name of a module of Python's standard library"))
    for path in modules.too_large:
        plan.left_out.append(LeftOut("warning", path, "it is larger than 1 MiB: put data into a bucket"))
    if (archive := modules.archive()) is not None:
        plan.files.append(archive)
    return plan


def _add(plan: Plan, package: Installed) -> None:
    before = len(plan.left_out)
    _bring(plan, package)
    if len(plan.left_out) > before:
        plan.requirements.append(f"{package.name} ; {_EXCLUDED}")


def _bring(plan: Plan, package: Installed) -> None:
    if package.name in _OF_OTHER_SYSTEMS or package.name.startswith("pyobjc"):
        plan.left_out.append(LeftOut("info", package.name, "it exists for another operating system only"))
    elif package.source == "system":
        why = "the operating system's package manager has installed it; a virtual environment has its own packages"
        plan.left_out.append(LeftOut(_level(package, "info"), package.name, why))
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
            why = f"{wheel.name} is built for this operating system"
            plan.left_out.append(LeftOut(_level(package, "warning"), package.name, why))
        else:
            plan.files.append(wheel)


def check(plan: Plan, options: PackageSyncOptions) -> None:
    for file in plan.files:
        if len(file.content) > MAX_FILE_BYTES:
            raise RopewalkError(
                f"Package sync: {file.name} has {len(file.content) / 1024**2:.1f} MiB, and a file may have at most "
                f"{MAX_FILE_BYTES // 1024**2} MiB.",
                code="PACKAGE_SYNC",
                hint="Leave large data out of the package, or leave the package out: package_sync_ignore=[...].",
            )
    levels = {"critical-only": ("critical",), "warning-or-higher": ("critical", "warning")}
    fatal = ("critical", "warning", "info") if options.strict else levels.get(options.fail_on, ("critical", "warning", "info"))
    failed = [one for one in plan.left_out if one.level in fatal]
    if not failed:
        return
    listed = "; ".join(f"{one.package}: {one.why}" for one in failed)
    raise RopewalkError(
        f"Package sync: the cluster cannot have all of this environment: {listed}",
        code="PACKAGE_SYNC",
        hint="Name what is not needed in package_sync_ignore=[...], or choose another package_sync_fail_on.",
    )


def top_level_of(file: PackageFile) -> set[str]:
    """Names that a wheel makes importable."""
    if not file.name.endswith(".whl"):
        return set()
    paths = [path for path in files_of(file.content) if not path.partition("/")[0].endswith((".dist-info", ".data"))]
    return {path.partition("/")[0].removesuffix(".py") for path in paths}


def upload(api: ClientApi, files: Sequence[PackageFile], until: float = math.inf) -> int:
    """Uploads those that the server does not have; returns how many."""
    if not files:
        return 0
    by_hash = {file.sha256: file for file in files}
    answer = api.request("POST", "/v1/missing-package-files", {"sha256s": list(by_hash)}, until=until)
    for sha256 in answer["missing"]:
        api.upload(f"/v1/package-files/{sha256}", by_hash[sha256].content, until=until)
    return len(answer["missing"])


def python_version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def cache_directory() -> Path:
    """Of wheels that were built here."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "ropewalk" / "wheels"


def shortened(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _level(package: Installed, otherwise: Literal["warning", "info"]) -> Literal["critical", "warning", "info"]:
    return "critical" if package.name in CRITICAL else otherwise


def _runs_on_linux(wheel: str) -> bool:
    platform = wheel.removesuffix(".whl").rpartition("-")[2]
    return platform == "any" or "linux" in platform

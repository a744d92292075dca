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
from ropewalk.package_sync.archives import PackageFile
from ropewalk.package_sync.installed import Installed, list_installed
from ropewalk.package_sync.modules import collect_modules, imported_names, module_roots
from ropewalk.package_sync.options import CRITICAL, PackageSyncOptions
from ropewalk.package_sync.wheels import wheel_of_files, wheel_of_project

#: Of one file, as the server takes it.
MAX_FILE_BYTES = 16 * 1024 * 1024
#: Installers, which bring themselves, and this package, which the cluster does not import.
_NEVER = frozenset({"pip", "uv", "ropewalk"})
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


def make_software(
    api: ClientApi, options: PackageSyncOptions, say: Callable[[str], None], until: float = math.inf
) -> dict[str, Any]:
    """The field `software` of a request. Blocks: it may build wheels, and uploads files. `say` gets lines for the user.
    Raises RopewalkError (PACKAGE_SYNC) when something that is needed cannot be brought, ClusterTimeoutError when `until`
    (time.monotonic) does not allow another attempt of a request."""
    plan = make_plan(options)
    for left_out in plan.left_out:
        if left_out.level != "info":
            say(f"Package sync: {left_out.package} is left out: {left_out.why}")
    check(plan, options)
    uploaded = upload(api, plan.files, until)
    own = f", {len(plan.files)} package files ({uploaded} uploaded)" if plan.files else ""
    beside = f", the modules {shortened(plan.modules)}" if plan.modules else ""
    say(f"Package sync: Python {python_version()}, {len(plan.requirements)} packages{own}{beside}")
    return {
        "requirements": plan.requirements,
        "pinned": True,
        "python": python_version(),
        "packageFiles": [{"name": file.name, "sha256": file.sha256} for file in plan.files],
    }


def make_plan(options: PackageSyncOptions, installed: Sequence[Installed] | None = None) -> Plan:
    plan = Plan()
    packages = list_installed() if installed is None else installed
    for package in packages:
        if package.name in _NEVER or package.name in options.ignore:
            continue
        if options.only is None or package.name in options.only:
            _add(plan, package)
    projects = [package.directory for package in packages if package.directory is not None]
    roots = module_roots(projects)
    modules = collect_modules(
        roots, ignore=options.ignore | {"ropewalk"}, only=options.only, imported=imported_names(roots)
    )
    plan.modules = modules.names
    for path in modules.too_large:
        plan.left_out.append(LeftOut("warning", path, "it is larger than 1 MiB: put data into a bucket"))
    if (archive := modules.archive()) is not None:
        plan.files.append(archive)
    return plan


def _add(plan: Plan, package: Installed) -> None:
    if package.name in _OF_OTHER_SYSTEMS or package.name.startswith("pyobjc"):
        plan.left_out.append(LeftOut("info", package.name, "it exists for another operating system only"))
    elif package.source == "system":
        why = "the operating system's package manager has installed it; a virtual environment has its own packages"
        plan.left_out.append(LeftOut(_level(package, "info"), package.name, why))
    elif package.source == "index":
        plan.requirements.append(f"{package.name}=={package.version}")
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

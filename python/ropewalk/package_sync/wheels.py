"""Wheels of packages that are on no package index: built from a project's directory, or created from the installed
files."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .archives import PackageFile, files_of, zip_of
from .installed import Installed
from .problems import PackageSyncError

_BUILD_TIMEOUT_S = 600
_SKIPPED_DIRECTORIES = frozenset({"__pycache__", "node_modules"})
#: Build outputs, when they are at the top of a project.
_OUTPUTS = frozenset({"build", "dist"})
_OF_INSTALLERS = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"})


def wheel_of_project(package: Installed, cache: Path) -> PackageFile:
    """The wheel of a project's current directory. It is built again only when a file of the directory has changed."""
    directory = package.directory
    if directory is None or not directory.is_dir():
        raise PackageSyncError(
            f"Package sync: {package.name} was installed from {directory}, which is not there any more.",
                hint=f'Install it again, or leave it out: package_sync_ignore=["{package.name}"].',
        )
    kept = cache / _fingerprint(directory)
    if kept.is_dir() and (found := sorted(kept.glob("*.whl"))):
        return PackageFile(found[0].name, found[0].read_bytes())
    wheel = _build(package.name, directory)
    _keep(wheel, kept)
    return wheel


def wheel_of_files(package: Installed) -> PackageFile:
    """A wheel of the installed files, without scripts: a cluster imports packages, and calls none of their commands."""
    files: dict[str, bytes] = {}
    for path in package.distribution.files or []:
        inside = path.as_posix()
        is_cache = "__pycache__" in path.parts or path.name in _OF_INSTALLERS
        if inside.startswith(("..", "/")) or is_cache:
            continue
        with contextlib.suppress(OSError):
            # The package's installer lists a file that was removed since; Python does not need it either.
            files[inside] = Path(str(path.locate())).read_bytes()
    information = next((path for path in files if path.endswith(".dist-info/WHEEL")), None)
    if information is None:
        raise PackageSyncError(
            f"Package sync: the installed files of {package.name} are not those of a wheel.",
                hint=f'Install it with pip or uv, or leave it out: package_sync_ignore=["{package.name}"].',
        )
    tags = [line.partition(":")[2].strip() for line in files[information].decode().splitlines() if line.startswith("Tag:")]
    here = (f"cp{sys.version_info.major}{sys.version_info.minor}", "py3")
    fitting = [tag for tag in tags if tag.startswith(here)] or tags or ["py3-none-any"]
    return _complete(f"{package.name.replace('-', '_')}-{package.version}-{fitting[0]}.whl", files)


def _build(name: str, directory: Path) -> PackageFile:
    with tempfile.TemporaryDirectory(prefix="ropewalk-wheel-") as target:
        uv = shutil.which("uv")
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, str(directory)]
        command = pip if uv is None else [
            *(uv, "build", "--quiet", "--wheel", "--python", sys.executable),
            *("--out-dir", target, str(directory)),
        ]
        try:
            built = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise _not_built(name, directory, f"it took longer than {_BUILD_TIMEOUT_S} seconds") from None
        wheels = sorted(Path(target).glob("*.whl"))
        if built.returncode != 0 or not wheels:
            raise _not_built(name, directory, (built.stderr or built.stdout)[-2_000:].strip())
        # Builders write the time into the files, but the SHA-256 must depend only on the content.
        return _complete(wheels[0].name, files_of(wheels[0].read_bytes()))


def _not_built(name: str, directory: Path, why: str) -> PackageSyncError:
    return PackageSyncError(
        f"Package sync: no wheel of {name} could be built from {directory}: {why}",
        hint=f'Make `pip wheel {directory}` work, or leave it out: package_sync_ignore=["{name}"].',
    )


def _complete(name: str, files: dict[str, bytes]) -> PackageFile:
    """Adds a RECORD of exactly these files."""
    information = next(path.rpartition("/")[0] for path in files if path.endswith(".dist-info/WHEEL"))
    record = f"{information}/RECORD"
    kept = {path: content for path, content in files.items() if path != record}
    rows = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in sorted(kept.items())]
    return PackageFile(name, zip_of({**kept, record: "\n".join([*rows, f"{record},,", ""]).encode()}))


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _keep(wheel: PackageFile, directory: Path) -> None:
    """Caches the wheel. An unwritable cache only costs time."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        temporary = directory / f".{os.getpid()}-{wheel.name}"
        temporary.write_bytes(wheel.content)
        temporary.replace(directory / wheel.name)
    except OSError:
        return


def _fingerprint(directory: Path) -> str:
    """Changes with each change of a file (its path, size or time), and with the interpreter."""
    digest = hashlib.sha256(f"{directory.resolve()} {sysconfig.get_config_var('SOABI')} {sys.version_info[:2]}".encode())
    for path in _sources(directory):
        status = path.stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _sources(directory: Path) -> Iterator[Path]:
    for place, directories, names in os.walk(directory):
        directories[:] = sorted(
            name
            for name in directories
            if not name.startswith(".")
            and name not in _SKIPPED_DIRECTORIES
            and not (name in _OUTPUTS and Path(place) == directory)
            and not name.endswith(".egg-info")
            and not (Path(place) / name / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = Path(place) / name
            if not name.endswith((".pyc", ".pyo")) and path.is_file():
                yield path

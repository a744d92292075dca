"""The modules and packages that this process can import without an installation: beside the program, in the working
directory of a notebook, on PYTHONPATH."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .archives import PackageFile, zip_of
from .git import TRUSTLESS, trustless_environment
from .imports import names_in
from .names import canonical
from .problems import PackageSyncError
from .secret_names import is_secret_name

#: Limit of one file: larger ones are data, which belongs in a bucket.
MAX_FILE_BYTES = 1024 * 1024
#: Limit of all files together, before compression.
MAX_BYTES = 64 * 1024 * 1024
_SKIPPED_DIRECTORIES = frozenset({"__pycache__", "node_modules"})
#: Directories of a user's home that usually contain secrets.
_SECRET_PLACES = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config"})


@dataclass
class Modules:
    """Content by path. Exclusions: `too_large` files, modules `shadowing` the standard library; by name, modules
    that the user has `skipped`, and those of which git ignores every file."""

    files: dict[str, bytes] = field(default_factory=dict)
    too_large: list[str] = field(default_factory=list)
    shadowing: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    untracked: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return sorted({path.partition("/")[0].removesuffix(".py") for path in self.files})

    def archive(self) -> PackageFile | None:
        return PackageFile("modules.zip", zip_of(self.files)) if self.files else None


def collect_modules(
    roots: Collection[Path],
    *,
    ignore: Collection[str] = (),
    only: Collection[str] | None = None,
    imported: Collection[str] = (),
) -> Modules:
    """`imported`: names that this process, or a program, imports; for these, and for those that the modules import,
    directories without `__init__.py` are included too. Raises PackageSyncError when the files are too large
    together."""
    modules, sizes = Modules(), dict[str, int]()
    for root in roots:
        tracked = _files_of_git(root)
        candidates = dict(_importable(root))
        wanted = {name for name, path in candidates.items() if not _is_namespace(path)} | (set(imported) & candidates.keys())
        done = set[str]()
        while names := sorted(wanted - done):
            for name in names:
                done.add(name)
                if any(inside.partition("/")[0] in (name, f"{name}.py") for inside in modules.files):
                    continue
                taken = _take(name, candidates[name], root, modules, sizes, tracked, ignore, only)
                wanted |= {one for file in taken if file.endswith(".py") for one in names_in(modules.files[file])} & candidates.keys()
    return modules


def _take(
    name: str,
    path: Path,
    root: Path,
    modules: Modules,
    sizes: dict[str, int],
    tracked: Collection[Path] | None,
    ignore: Collection[str],
    only: Collection[str] | None,
) -> list[str]:
    """Adds a module or package; returns the added files."""
    if canonical(name) in ignore or (only is not None and canonical(name) not in only):
        modules.skipped[name] = str(path)
        return []
    if name in sys.stdlib_module_names:
        modules.shadowing.append(str(path))
        return []
    taken: list[str] = []
    files = list(_files(path))
    if _is_namespace(path) and not any(file.suffix == ".py" for file in files):
        return []
    for file in files:
        if tracked is not None and file.resolve() not in tracked:
            continue
        content = _read(file, modules)
        if content is None:
            continue
        sizes[str(file)] = len(content)
        _check_total(sizes, root)
        inside = file.relative_to(root).as_posix()
        modules.files[inside] = content
        taken.append(inside)
    if not taken and tracked is not None:
        modules.untracked[name] = str(path)
    return taken


def _read(file: Path, modules: Modules) -> bytes | None:
    """None for a file that is too large, was just removed, or is unreadable: this process cannot import it either."""
    try:
        if file.stat().st_size <= MAX_FILE_BYTES:
            return file.read_bytes()
    except OSError:
        return None
    modules.too_large.append(str(file))
    return None


def module_roots() -> list[Path]:
    """The directories of `sys.path` that no installer manages."""
    managed = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    managed += [Path(sys.prefix).resolve() / "lib", Path(sys.base_prefix).resolve() / "lib"]
    roots: list[Path] = []
    for entry in sys.path:
        path = Path(entry or os.getcwd())
        if not path.is_dir():
            continue
        path = path.resolve()
        is_managed = path.name in ("site-packages", "dist-packages") or any(path.is_relative_to(place) for place in managed)
        # A Dask worker in this process adds its scratch directory.
        is_scratch = "dask-scratch-space" in path.parts
        programs = (Path(sys.executable).resolve().parent, Path(sysconfig.get_path("scripts")).resolve())
        if not (is_managed or is_scratch or path in programs or path in roots):
            roots.append(path)
    return roots


def imported_names(roots: Collection[Path]) -> set[str]:
    """Names of the modules from `roots` that this process has imported."""
    names = set()
    # Other threads import modules meanwhile, which makes iteration fail; a copy cannot.
    for name, module in sys.modules.copy().items():
        if "." in name:
            continue
        places = [getattr(module, "__file__", None), *list(getattr(module, "__path__", []) or [])]
        if any(place is not None and Path(place).resolve().parent in roots for place in places):
            names.add(name)
    return names


def _importable(root: Path) -> Iterator[tuple[str, Path]]:
    """Modules, packages, and directories without `__init__.py`, in the order in which Python prefers those of one name."""
    found: dict[str, Path] = {}
    for path in sorted(_entries(root), key=lambda path: (path.suffix == ".py", path.name), reverse=True):
        name = path.stem if path.suffix == ".py" else path.name
        if not name.isidentifier() or name in _SKIPPED_DIRECTORIES:
            continue
        try:
            is_environment = (path / "pyvenv.cfg").exists()
            is_module = path.is_file() and path.suffix == ".py"
            if (path.is_dir() and not is_environment) or is_module:
                # A package wins over a module, a module over a directory.
                if name not in found or not _is_namespace(path):
                    found[name] = path
        except OSError:
            # The entry is unreadable, so this process cannot import it either.
            continue
    yield from sorted(found.items())


def _is_namespace(path: Path) -> bool:
    return path.is_dir() and not (path / "__init__.py").exists()


def _entries(root: Path) -> list[Path]:
    """Empty for a directory that was just removed, or that is unreadable."""
    try:
        return sorted(root.iterdir())
    except OSError:
        return []


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        if not _is_secret(path):
            yield path
        return
    for place, directories, names in os.walk(path):
        directories[:] = sorted(
            name for name in directories if not name.startswith(".") and name not in _SKIPPED_DIRECTORIES
        )
        for name in sorted(names):
            file = Path(place) / name
            if not name.startswith(".") and not name.endswith((".pyc", ".pyo")) and not _is_secret(file) and file.is_file():
                yield file


def _is_secret(file: Path) -> bool:
    """Judged by its name, or by the target of a link: a foreign repository may contain links into this user's home."""
    if is_secret_name(file.name):
        return True
    if not file.is_symlink():
        return False
    try:
        real, here = file.resolve(), file.parent.resolve()
    except (OSError, RuntimeError):
        # The link leads to itself.
        return False
    # A project may itself be in such a place.
    parts = real.relative_to(os.path.commonpath([real, here])).parts
    return is_secret_name(real.name) or real.name.startswith(".") or not _SECRET_PLACES.isdisjoint(parts)


def _files_of_git(root: Path) -> set[Path] | None:
    """The files that git does not ignore; None when the directory is in no repository, or git is missing."""
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
    command = ["git", *TRUSTLESS, "-C", str(root), *listing]
    try:
        listed = subprocess.run(command, env=trustless_environment(), capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if listed.returncode != 0:
        return None
    return {(root / os.fsdecode(name)).resolve() for name in listed.stdout.split(b"\0") if name}


def _check_total(sizes: dict[str, int], root: Path) -> None:
    if sum(sizes.values()) <= MAX_BYTES:
        return
    largest = sorted(sizes, key=lambda path: -sizes[path])[:5]
    listed = ", ".join(f"{path} ({sizes[path] / 1024:.0f} KiB)" for path in largest)
    raise PackageSyncError(
        f"Package sync: the Python files in {root} are larger than {MAX_BYTES // 1024**2} MiB together. The largest: {listed}",
        hint="Run the program in the directory of its project, name what is not needed in .gitignore or in "
        "package_sync_ignore=[...], or use package_sync=False.",
    )

"""Packages of conda: which of them a package index has, under which name."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection
from pathlib import Path

from .names import canonical

#: Names on PyPI that differ from those on conda-forge. All others are the same, or are no packages of Python.
_ON_PYPI = {
    "dask-core": "dask",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "opencv": "opencv-python-headless",
    "py-opencv": "opencv-python-headless",
    "pyqt": "pyqt5",
    "pytables": "tables",
    "python-blosc": "blosc",
    "python-build": "build",
    "python-duckdb": "duckdb",
    "python-flatbuffers": "flatbuffers",
    "python-graphviz": "graphviz",
    "python-kaleido": "kaleido",
    "python-xxhash": "xxhash",
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "tensorflow-base": "tensorflow",
}
#: Programs and libraries that are no packages of Python; and bindings whose wheels lack the library.
_NOT_PYTHON = frozenset(
    {
        *("boost", "cfitsio", "compilers", "cuda", "cudatoolkit", "cudnn", "curl", "eccodes", "esmf", "ffmpeg", "fftw", "gcc", "gdal"),
        *("geos", "git", "go", "graphviz", "grass", "gsl", "gxx", "hdf4", "hdf5", "imagemagick", "julia", "make", "mpich", "nco"),
        *("nodejs", "openblas", "openjdk", "openmpi", "pandoc", "parallel", "perl", "poppler", "postgresql", "proj", "qt", "r", "r-base"),
        *("redis-server", "rust", "samtools", "sqlite", "tesseract", "texlive-core", "udunits2", "wget", "zlib"),
    }
)
#: Conda itself, and what comes with its distributions.
OWN = frozenset(
    {
        *("anaconda-anon-usage", "anaconda-client", "anaconda-navigator", "conda", "conda-build", "conda-content-trust", "conda-index"),
        *("conda-libmamba-solver", "conda-package-handling", "conda-package-streaming", "conda-repo-cli", "conda-token"),
        *("libmambapy", "mamba", "menuinst", "navigator-updater"),
    }
)
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
    """Packages that the user had conda install here and that are no packages of Python: no package index has them. `installed`:
    the names of the installed packages of Python."""
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

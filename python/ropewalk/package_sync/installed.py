"""The installed packages, from the standard metadata of the installers (PEP 376, 610, 627)."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from .names import canonical

#: How a package reaches the cluster: `index`: from the package index, by its version; `url`: from its URL;
#: `project`: as a wheel that is built from its directory; `files`: as a wheel of its installed files; `system`: not
#: at all, because the operating system's package manager installed it.
Source = Literal["index", "url", "project", "files", "system"]


@dataclass(frozen=True)
class Installed:
    name: str
    version: str
    source: Source
    distribution: Distribution
    #: Only for `url`.
    url: str | None = None
    #: Only for `project`.
    directory: Path | None = None

    def imports(self) -> tuple[str, ...]:
        """The names under which programs import it."""
        listed = (self.distribution.read_text("top_level.txt") or "").split()
        paths = [path.parts for path in self.distribution.files or [] if path.suffix == ".py"]
        names = {parts[0].removesuffix(".py") for parts in paths if parts} | set(listed)
        return tuple(sorted(name for name in names if name.isidentifier())) or (self.name.replace("-", "_"),)


def list_installed(found: Iterable[Distribution] | None = None) -> list[Installed]:
    """Sorted by name. Of two with the same name, the one that Python imports."""
    packages: dict[str, Installed] = {}
    for distribution in distributions() if found is None else found:
        # A damaged installation has no metadata, or no name.
        has_metadata = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO")
        name = distribution.metadata["Name"] if has_metadata else None
        if name is None or canonical(name) in packages:
            continue
        packages[canonical(name)] = _classify(canonical(name), distribution)
    return [packages[name] for name in sorted(packages)]


def _classify(name: str, distribution: Distribution) -> Installed:
    version = distribution.version
    origin = _direct_url(distribution)
    url = str(origin.get("url", ""))
    if _is_of_conda(distribution, url):
        # The package's files need conda's libraries, which are beside Python's.
        return Installed(name, version, "index", distribution)
    if "dir_info" in origin:
        directory = _path_of(url)
        if origin["dir_info"].get("editable") is True or not distribution.files:
            return Installed(name, version, "project", distribution, directory=directory)
        return Installed(name, version, "files", distribution)
    if "vcs_info" in origin or url.startswith("file:"):
        return Installed(name, version, "files", distribution)
    if url.startswith(("http:", "https:")):
        return Installed(name, version, "url", distribution, url=url)
    if (project := _develop_directory(distribution)) is not None:
        return Installed(name, version, "project", distribution, directory=project)
    if _is_of_system(distribution):
        return Installed(name, version, "system", distribution)
    return Installed(name, version, "index", distribution)


def _direct_url(distribution: Distribution) -> dict[str, Any]:
    text = distribution.read_text("direct_url.json")
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _path_of(url: str) -> Path:
    return Path(url2pathname(unquote(urlsplit(url).path)))


def _develop_directory(distribution: Distribution) -> Path | None:
    """`setup.py develop` leaves the metadata beside the sources."""
    metadata = getattr(distribution, "_path", None)
    if metadata is None or not str(metadata).endswith(".egg-info"):
        return None
    directory = Path(metadata).parent
    places = [directory, directory.parent] if directory.name == "src" else [directory]
    return next((place for place in places if (place / "setup.py").exists() or (place / "pyproject.toml").exists()), None)


def _is_of_conda(distribution: Distribution, url: str) -> bool:
    """Many name the directory in which conda built them as their origin."""
    is_built = any(place in url for place in ("/feedstock_root/", "/conda-bld/", "/croot/"))
    return is_built or (distribution.read_text("INSTALLER") or "").strip() == "conda"


def _is_of_system(distribution: Distribution) -> bool:
    """Debian's packages are in `dist-packages`, and some of their names are on no package index."""
    place = Path(str(distribution.locate_file("")))
    installer = (distribution.read_text("INSTALLER") or "").strip()
    return place.name == "dist-packages" and installer not in ("pip", "uv") and place != Path(sysconfig.get_path("purelib"))

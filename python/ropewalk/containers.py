"""The runtime of clusters and jobs: credentials of image registries, and the host setup script."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path


def registry_credentials(given: Mapping[str, tuple[str, str]] | None) -> dict[str, dict[str, str]] | None:
    """In the format of Docker's config.json. Raises TypeError, whose text contains no value."""
    if given is None:
        return None
    for registry, pair in given.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f'registry_auth["{registry}"]: give a pair of user and password')
    return {
        registry: {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}
        for registry, (user, password) in given.items()
    }


def setup_script(path: str | os.PathLike[str] | None, content: str | None) -> str | None:
    """The text of the host setup script. Raises ValueError, and OSError for a file that cannot be read."""
    if path is not None and content is not None:
        raise ValueError("host_setup_script and host_setup_script_content both give the script: give one of them")
    return content if path is None else Path(path).read_text()

"""Names of packages."""

from __future__ import annotations

import re


def canonical(name: str) -> str:
    """The normal form of PEP 503: case and the kind of separator are irrelevant."""
    return re.sub(r"[-_.]+", "-", name).lower()

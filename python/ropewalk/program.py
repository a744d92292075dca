"""The program that uses this package."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import distributed

_OURS = (str(Path(__file__).parent), str(Path(distributed.__file__).parent))


def warn_program(text: str) -> None:
    """A warning that points to the line of the program, at any call depth in this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)

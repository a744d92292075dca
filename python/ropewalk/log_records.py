"""The log of this package, for programs that do not configure logging."""

from __future__ import annotations

import logging
import sys

logger = logging.getLogger("distributed.ropewalk")

_NAME = "ropewalk"


def log_to_stderr() -> None:
    """Writes records from level INFO to stderr, with their time, once each, independently of Dask's logging."""
    handler = next((one for one in logger.handlers if one.get_name() == _NAME), None)
    if not isinstance(handler, logging.StreamHandler):
        handler = logging.StreamHandler()
        handler.set_name(_NAME)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
    # A notebook replaces sys.stderr.
    handler.setStream(sys.stderr)
    logger.setLevel(logging.INFO)
    # distributed's handlers would write it a second time.
    logger.propagate = False

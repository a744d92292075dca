"""Runs one command line."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

import click

from ropewalk.cli.errors import OK, report
from ropewalk.cli.program import create_program
from ropewalk.cli.session import output


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    # The commands print the package's log records themselves.
    logging.getLogger("ropewalk").addHandler(logging.NullHandler())
    try:
        code = create_program().main(args=None if words is None else list(words), prog_name="ropewalk", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as left:
        return left.exit_code
    except BrokenPipeError:
        # `ropewalk batch logs 12 | head` is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        output.err("Interrupted.")
        return 130
    except Exception as error:
        return report(error, output)
    return code if isinstance(code, int) else OK

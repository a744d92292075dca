"""Runs one command line."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from ropewalk.cli.errors import OK, report
from ropewalk.cli.program import create_program
from ropewalk.cli.session import output


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    _replace_closed_streams()
    logger = logging.getLogger("ropewalk")
    logger.addHandler(_PROGRESS)
    logger.setLevel(logging.INFO)
    try:
        code = _run(sys.argv[1:] if words is None else list(words))
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


def _run(words: list[str]) -> Any:
    """Without click's own `main`, which turns Ctrl-C and a closed pipe into exceptions and exit codes of its own."""
    program = create_program()
    with program.make_context("ropewalk", words) as context:
        return program.invoke(context)


def _replace_closed_streams() -> None:
    """Python has None in the place of a stream that the shell has closed (`>&-`)."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")


class _Progress(logging.Handler):
    """Shows what the package logs: the repeated requests while the API does not answer."""

    def emit(self, record: logging.LogRecord) -> None:
        output.progress(record.getMessage())


_PROGRESS = _Progress()

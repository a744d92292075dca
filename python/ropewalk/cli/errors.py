"""Errors of commands: the message, how to fix it, the request's id, and the exit code."""

from __future__ import annotations

import re
import traceback

import click

from ropewalk.cli.terminal import Output
from ropewalk.errors import RopewalkError

OK = 0
FAILED = 1
USAGE = 2
INTERRUPTED = 130


class Interrupted(Exception):
    """Ctrl-C. The message names the job or cluster that continues, and the command that shows it."""


def report(error: BaseException, output: Output) -> int:
    """Prints the error to stderr and returns the exit code."""
    if isinstance(error, Interrupted):
        output.err(str(error))
        return INTERRUPTED
    if isinstance(error, click.UsageError):
        text = error.format_message()
        if text.startswith("Usage: "):
            # A command group without a command.
            output.err(text)
        else:
            # This package's own messages already contain the remedy.
            output.err(_lines(text[:1].lower() + text[1:], None if type(error) is click.UsageError else "See --help."))
        return USAGE
    if isinstance(error, RopewalkError):
        is_named = error.field is None or error.field in error.message or error.code == "CONFIG"
        about = "" if is_named else f"{error.field}: "
        hint = None if error.hint is None else as_options(error.hint)
        output.err(_lines(f"{about}{as_options(error.message)}", hint, error.request_id))
        return USAGE if error.code in ("VALIDATION", "CONFIG") else FAILED
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
    output.err(_lines(text, "This is a bug in ropewalk: please report it with the lines above."))
    return FAILED


def as_options(text: str) -> str:
    """Replaces arguments of Python by options of the command line."""
    text = text.replace("package_sync=False", "--no-package-sync").replace("=[...]", " NAME")
    text = text.replace("command_on_instance=True", "--command-on-instance")
    text = re.sub(r'package_sync(\w+)=\["([^"]*)"\]', r"package_sync\1 \2", text)
    text = text.replace("Pass api_url=...", "Pass --api-url").replace("Pass token=...", "Pass --token-file")
    names = r"package_sync\w*|map_over\w*|task_timeout|job_timeout|watchdog_timeout|wait_for_capacity|allow_\w+|registry_auth\w*"
    return re.sub(rf"\b({names})\b", lambda match: f"--{match[1].replace('_', '-')}", text)


def _lines(what: str, hint: str | None = None, request_id: str | None = None) -> str:
    lines = [f"error: {what}"]
    if hint is not None:
        lines.append(f"  how to fix: {hint}")
    if request_id is not None:
        lines.append(f"  request id: {request_id}")
    return "\n".join(lines)

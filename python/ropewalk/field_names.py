"""Translates field names of the server's requests to a program's arguments. Pure."""

from __future__ import annotations

import re

from ropewalk.errors import RopewalkError

#: Names that differ in more than the spelling.
_OWN = {
    "workers": "n_workers",
    "env": "environ",
    "softwareName": "software",
    "noClientTimeout": "keepalive",
    "workersPerInstance": "_n_worker_specs_per_host",
}
#: Fields have at least two words, or precede a colon as the subject of the message.
_FIELD = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b|^(?:workers|env)(?=[:.])")


def as_arguments(text: str) -> str:
    """`workerMemory: ...` as `worker_memory: ...`."""
    return _FIELD.sub(lambda match: argument_of(match[0]), text)


def argument_of(field: str) -> str:
    return _OWN.get(field) or re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", field)


def in_arguments(error: RopewalkError) -> RopewalkError:
    """The same error in the caller's argument names. `field` keeps the API's name."""
    error.message = as_arguments(error.message)
    error.hint = None if error.hint is None else as_arguments(error.hint)
    return error

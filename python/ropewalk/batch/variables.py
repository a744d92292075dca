"""Environment variables of tasks, as `batch.run` takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ropewalk.private_envs import check_envs

#: A dictionary, or texts like "MODE=fast", as on a command line.
Variables = Mapping[str, str] | Sequence[str]


def read_variables(given: Variables | None, name: str) -> dict[str, str]:
    """TypeError and ValueError name the argument, not the values."""
    if given is None or isinstance(given, Mapping):
        return check_envs(given or {})
    if isinstance(given, str) or not all(isinstance(one, str) for one in given):
        raise TypeError(f'{name}: give a dictionary, or a list of texts like "MODE=fast"')
    pairs = [one.partition("=") for one in given]
    if any(not key or not equals for key, equals, _ in pairs):
        raise ValueError(f'{name}: each text is like "MODE=fast"')
    return check_envs({key: value for key, _, value in pairs})

"""Reads several arguments, and raises what is wrong with all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def read_all(readers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """The values by name. Raises the one TypeError or ValueError, or one error with the texts of all."""
    values: dict[str, Any] = {}
    problems: list[TypeError | ValueError] = []
    for name, read in readers.items():
        try:
            values[name] = read()
        except (TypeError, ValueError) as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        texts = "; ".join(dict.fromkeys(map(str, problems)))
        raise TypeError(texts) if all(isinstance(one, TypeError) for one in problems) else ValueError(texts)
    return values

"""The inputs that a job is mapped over: values, the content of a file, or the variables of each task. The server
splits texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ropewalk.errors import RopewalkError

_ARGUMENTS = {"mapOver.inputVar": "map_over_input_var", "mapOver.delimiter": "map_over_delimiter"}

StrPath = str | os.PathLike[str]
#: Numbers are sent as text.
Value = str | int | float


def read_inputs(
    values: str | Sequence[Value] | None,
    file: StrPath | None,
    input_var: str | None,
    task_var_dicts: Sequence[Mapping[str, Value]] | None,
    delimiter: str | None,
) -> dict[str, Any] | None:
    """The request's `mapOver`, or None when nothing is given."""
    fields: dict[str, Any] = {"inputVar": input_var, "delimiter": delimiter}
    if values is not None:
        fields["values"] = values if isinstance(values, str) else [_text(one, "map_over_values") for one in values]
    if file is not None:
        fields["fileContent"] = _read(Path(file))
    if task_var_dicts is not None:
        fields["variables"] = [{name: _text(one, name) for name, one in each.items()} for each in task_var_dicts]
    given = {name: value for name, value in fields.items() if value is not None}
    return given or None


@contextmanager
def in_arguments(mapped: Mapping[str, Any] | None) -> Iterator[None]:
    """Errors about a field of the request name the argument instead."""
    try:
        yield
    except RopewalkError as error:
        known = {**_ARGUMENTS, **({} if mapped is None else {"mapOver": argument_of(mapped)})}
        name = known.get(error.field or "")
        if name is not None and f"{error.field}:" in error.message:
            error.message = error.message.replace(f"{error.field}:", f"{name}:", 1)
            error.field = None
        raise


def argument_of(mapped: Mapping[str, Any]) -> str:
    """The argument that has the inputs."""
    if "variables" in mapped:
        return "map_over_task_var_dicts"
    return "map_over_file" if "fileContent" in mapped else "map_over_values"


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"map_over_file: {path} is not text in UTF-8, so its values would not arrive as they are") from None


def _text(value: object, name: str) -> str:
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{name}: {value!r} is neither text nor a number")

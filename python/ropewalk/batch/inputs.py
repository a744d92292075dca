"""What a job is mapped over: values, the content of a file, or the variables of each task. The server splits texts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

StrPath = str | os.PathLike[str]
#: Numbers are passed on as text.
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


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"map_over_file: {path} is not text in UTF-8, so its values would not arrive as they are") from None


def _text(value: object, name: str) -> str:
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{name}: {value!r} is neither text nor a number")

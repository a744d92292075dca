"""Inputs that do not fit in a request: a list in the object store, with the JSON of a value, or of a task's variables, on each line. Split and
checked as the server does it (domain/job/inputs.ts), because instances get the list without passing through the server."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ropewalk.batch.storage import upload_files
from ropewalk.client_api import ClientApi

#: A request has room for the command and files too.
_MAX_SENT_BYTES = 15 * 1024 * 1024
_MAX_LIST_BYTES = 256 * 1024 * 1024
_MAX_TASKS = 1_000_000
#: Of a value, in the 16-bit units in which the server counts.
_MAX_VALUE_LENGTH = 32 * 1024
_INPUT_VARIABLES = ("COILED_BATCH_TASK_INPUT", "ROPEWALK_BATCH_TASK_INPUT")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}

NOTE = "the values do not fit in a request: they are uploaded to the object store, and not sealed"


def list_of(mapped: Mapping[str, Any] | None, argument: str, delimiter_of_header: Callable[[], str | None]) -> list[str] | None:
    """The lines of the list, or None when `mapped` (the request's `mapOver`) fits in a request. ValueError names the argument."""
    if mapped is None or len(json.dumps(mapped)) <= _MAX_SENT_BYTES:
        return None
    if len(mapped.keys() & {"values", "fileContent", "variables"}) != 1:
        raise ValueError("give map_over_values, map_over_file or map_over_task_var_dicts: exactly one of them")
    if "variables" in mapped:
        if mapped.keys() & {"inputVar", "delimiter"}:
            raise ValueError(f"{argument}: a name for the input, or a delimiter, is for values, not for variables")
        inputs: Sequence[Any] = mapped["variables"]
        for index, variables in enumerate(inputs):
            for name, value in variables.items():
                _check_name(name, argument)
                _check(value, f"{argument}: {name} of task {index}")
    else:
        delimiter = mapped.get("delimiter")
        inputs = _values_of(mapped, _read_delimiter(delimiter_of_header() if delimiter is None else delimiter, argument))
        for index, value in enumerate(inputs):
            _check(value, f"{argument}: the value of task {index}")
    if len(inputs) > _MAX_TASKS:
        raise ValueError(f"{argument}: there are {len(inputs)} values; a job has at most {_MAX_TASKS} tasks")
    return [json.dumps(one, ensure_ascii=False) for one in inputs]


def upload_list(api: ClientApi, lines: Sequence[str], argument: str) -> dict[str, Any]:
    """Uploads it; returns the request's `mapOver.list`."""
    content = "".join(f"{line}\n" for line in lines).encode()
    if len(content) > _MAX_LIST_BYTES:
        raise ValueError(
            f"{argument}: the values have {len(content) / 1024 / 1024:.1f} MiB, and those of a job at most 256 MiB. Split them, and submit "
            "a job for each part; or put the list into a file that tasks read, and give them their lines with array."
        )
    with tempfile.TemporaryDirectory(prefix="ropewalk-inputs-") as directory:
        source = Path(directory) / "list"
        source.write_bytes(content)
        upload_files(api, [("list", source, False)])
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "count": len(lines)}


def _values_of(mapped: Mapping[str, Any], delimiter: str | None) -> list[str]:
    if "fileContent" in mapped:
        text = mapped["fileContent"].removeprefix("\ufeff")
        values = re.split(r"\r?\n", text) if delimiter is None else text.split(delimiter)
        # Editors end the last line too, as does `find -print0`.
        while values and (values[-1] == "" or (delimiter is not None and values[-1] in ("\n", "\r\n"))):
            values.pop()
        return values
    values = mapped["values"]
    return values.split(delimiter or ",") if isinstance(values, str) else [*values]


def _read_delimiter(written: str | None, argument: str) -> str | None:
    if written is None:
        return None
    delimiter = re.sub(r"\\([nrt0\\])", lambda found: _ESCAPES[found[1]], written)
    if delimiter == "":
        raise ValueError(f"{argument}: map_over_delimiter is empty")
    return delimiter


def _check_name(name: str, argument: str) -> None:
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
        raise ValueError(f"{argument}: {name[:80]!r} is not a name of an environment variable")
    if name.startswith(("ROPEWALK_", "COILED_")) and name not in _INPUT_VARIABLES:
        raise ValueError(f"{argument}: Ropewalk sets {name} itself")


def _check(value: str, what: str) -> None:
    if "\0" in value:
        raise ValueError(f"{what} has a NUL character, which no environment variable can hold")
    try:
        length = len(value.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        raise ValueError(f"{what} has half of a surrogate pair, which is no character") from None
    if length > _MAX_VALUE_LENGTH:
        raise ValueError(f"{what} has {length} characters; at most {_MAX_VALUE_LENGTH} fit. Put large inputs into files or a bucket, and map over their names.")

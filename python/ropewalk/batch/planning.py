"""Requests the plan of a job: what it would launch, and its price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ropewalk.batch.paths import connect
from ropewalk.batch.request import Option, StrPath, check_path, paths_of, request_body
from ropewalk.views import Plan


def plan(
    command: str | Sequence[str],
    *,
    ntasks: int | None = None,
    array: str | None = None,
    max_workers: int | None = None,
    upload: StrPath | Sequence[StrPath] | None = None,
    command_on_instance: bool = False,
    api_url: str | None = None,
    token: str | None = None,
    **options: Option,
) -> Plan:
    """What `run` would launch for this job: types in the order of attempts, zones, markets, dollars per hour. Launches nothing.
    The server reads the script's header, as for `run`."""
    fields = {"ntasks": ntasks, "array": array, "maxWorkers": max_workers}
    sent, stored, _ = request_body(command, paths_of(upload), fields, options)
    if not command_on_instance:
        check_path(command, sent, stored, options)
    files = sent.get("files")
    if files is not None:
        # A plan reads no more of a file than the header of a script.
        sent = {**sent, "files": [{**file, "content": file["content"][:_HEAD_CHARACTERS]} for file in files]}
    return cast(Plan, connect(api_url, token).request("POST", "/v1/plans/jobs", sent))


# Of base64: two bytes more than 64 KiB, so that the server sees where a line was cut.
_HEAD_CHARACTERS = 87_384

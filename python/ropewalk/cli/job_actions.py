"""`ropewalk batch cancel`, `retry` and `files`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ropewalk import batch
from ropewalk.cli.errors import OK
from ropewalk.cli.formats import format_table, format_time
from ropewalk.cli.jobs import detached, download_files, watch_job
from ropewalk.cli.options import REFERENCE, config_of, connect, flag, option, with_connection, with_format
from ropewalk.cli.session import number_of_job, output, until_interrupted

_CANCEL = "Cancel a job: its tasks end, and its instances are released. With --task, only some of its tasks."


@click.command("cancel", help=_CANCEL)
@click.argument("job", type=REFERENCE)
@option("--task", metavar="IDS", help="only these tasks, e.g. 3,7-9; the job goes on with the others")
@with_connection
def cancel(job: int | str, task: str | None, **connection: Any) -> None:
    api = connect(**connection)
    number = number_of_job(api, job)
    if task is not None:
        api.request("POST", f"/v1/jobs/{number}/tasks/cancel", {"tasks": task})
        # The job's workflow cancels them; running tasks end when their agents next report.
        output.out(f"Job {number}: cancelling tasks {task}")
        output.err(f"Those that have ended so: ropewalk batch status {number} --state cancelled")
        return
    answer = api.request("POST", f"/v1/jobs/{number}/cancel")
    if answer.get("endedAt") is not None:
        output.out(f"Job {number} has ended: {answer['status']}")
    else:
        output.out(f"Job {number}: cancelling")
        output.err(f"Wait for it:  ropewalk batch wait {number}")


_RETRY = (
    "Run the failed tasks of an ended job again, with their ids, as a new job; "
    "when the job ended with an error of its own, all that are not done."
)


@click.command("retry", help=_RETRY)
@click.argument("job", type=REFERENCE)
@flag("--failed", help="the tasks that failed (the default)")
@option("--memory", metavar="SIZE", help="memory of each instance: a factor such as 2x, or a size")
@flag("--cancelled", help="also the tasks that were cancelled")
@flag("--again", help="also while another job that runs the same tasks is open")
@flag("--wait", help="wait until the new job has ended; exit code 1 unless every task is done")
@with_connection
@with_format
def retry(job: int | str, **flags: Any) -> int:
    api = connect(flags["api_url"], flags["token_file"], flags["workspace"])
    config = config_of(flags["api_url"], flags["token_file"])
    of = number_of_job(api, job)
    asked = {name: flags[name] for name in ("memory", "cancelled", "again")}
    created = batch.retry(of, **asked, api_url=config.api_url, token=config.token)
    for warning in created["warnings"]:
        output.err(f"warning: {warning}")
    number = created["number"]
    text = f"Job {number} runs tasks of job {of} again"
    if flags["wait"]:
        output.err(text)
        with until_interrupted(lambda: detached(number)):
            return watch_job(api, number, flags["output_format"])
    if flags["output_format"] == "json":
        output.json(created)
    else:
        output.out(text)
    output.err(f"Wait for it: ropewalk batch wait {number}")
    return OK


@click.command("files", help="List or download the output files of a job's tasks. Times are local.")
@click.argument("job", type=REFERENCE)
@option("--download", metavar="DIRECTORY", help="download them into this directory instead")
@with_connection
@with_format
def files(job: int | str, download: str | None, output_format: str, **connection: Any) -> None:
    api = connect(**connection)
    number = number_of_job(api, job)
    with until_interrupted(lambda: "Interrupted. The files remain stored."):
        if download is not None:
            download_files(connection, number, download)
            return
        config = config_of(connection["api_url"], connection["token_file"])
        listed = batch.list_files(number, api_url=config.api_url, token=config.token)
        if output_format == "json":
            output.json(listed)
        elif not listed:
            output.err(f"Job {number} has no stored files.")
        else:
            output.out(_format_files(listed))


def _format_files(listed: Sequence[Any]) -> str:
    """Names may contain any character: those with control characters are shown as Python's repr."""
    rows = [
        [
            "" if one.get("task") is None else str(one["task"]),
            str(one["bytes"]),
            format_time(one["storedAt"]),
            one["path"] if one["path"].isprintable() else ascii(one["path"]),
        ]
        for one in listed
    ]
    return format_table([("Task", ">"), ("Bytes", ">"), ("Stored", "<"), ("Path", "<")], rows)


COMMANDS = [files, cancel, retry]

"""`ropewalk batch status`, `list`, `wait`, `logs`, `why` and `at`."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ropewalk import batch
from ropewalk.batch.paths import pages
from ropewalk.cli.errors import FAILED, OK
from ropewalk.cli.formats import format_log_time
from ropewalk.cli.job_views import (
    SORT_KEYS,
    TASK_SORT_KEYS,
    describe_failures,
    format_bar,
    format_causes,
    format_errors,
    format_jobs,
    format_outcome,
    format_progress,
    format_tasks,
)
from ropewalk.cli.log_lines import print_lines
from ropewalk.cli.past import job_at
from ropewalk.cli.options import (
    REFERENCE,
    config_of,
    connect,
    flag,
    option,
    with_connection,
    with_filters,
    with_format,
    with_log_options,
)
from ropewalk.cli.session import is_filtered, newest, number_of_job, output, until_interrupted
from ropewalk.cli.sorting import sort_by, sort_type
from ropewalk.cli.why import show_why
from ropewalk.client_api import ClientApi, is_temporary
from ropewalk.errors import RopewalkError
from ropewalk.printable import clean

_STATUSES = ("waiting", "pending", "running", "done", "error", "cancelled")
_TASK_STATES = ("pending", "assigned", "running", "done", "error", "cancelled", "unknown")
_OPEN = ("waiting", "pending", "running")
_SORTS = ", ".join(SORT_KEYS)
_MAX_POLL_S = 2.0


_SORT = sort_type(SORT_KEYS)
_TASK_SORTS = ", ".join(TASK_SORT_KEYS)
_SORT_HELP = f"order of the jobs: {_SORTS}; of the tasks of a job: {_TASK_SORTS}; -COLUMN for the reverse"


@click.command("list", help="List jobs, newest first. Times are local.")
@option("--sort", metavar="COLUMN", type=_SORT, help=f"order: {_SORTS}; -COLUMN for the reverse")
@with_filters(_STATUSES)
@with_connection
@with_format
def list_jobs(**flags: Any) -> None:
    _show_list(connect(flags["api_url"], flags["token_file"], flags["workspace"]), flags, with_names=True)


def _show_list(api: ClientApi, flags: dict[str, Any], *, with_names: bool) -> None:
    jobs = newest(api, "/v1/jobs", flags)
    if flags["sort"] is not None:
        jobs = sort_by(jobs, flags["sort"], SORT_KEYS)
    if flags["output_format"] == "json":
        output.json(jobs)
    elif not jobs and is_filtered(flags):
        output.err("No job matches.")
    elif not jobs:
        output.err("There are no jobs yet. Submit one: ropewalk batch run --ntasks 10 my_script.sh")
    else:
        output.out(format_jobs(jobs, with_names=with_names))


@click.command("status", help="Show the newest jobs, or one job. Times are local.")
@click.argument("job", type=REFERENCE, required=False)
@flag("--tasks", help="the job's tasks, a row each: the first 1,000, or --limit")
@option("--sort", metavar="COLUMN", type=sort_type([*SORT_KEYS, *TASK_SORT_KEYS]), help=_SORT_HELP)
@option("--state", type=click.Choice(_TASK_STATES), help="the job's tasks in this state")
@with_filters(_STATUSES)
@with_connection
@with_format
def status(job: int | str | None, **flags: Any) -> None:
    wants_tasks = flags["tasks"] or flags["state"] is not None
    if job is None and wants_tasks:
        raise click.UsageError("--tasks and --state need a job")
    _check_sort(flags["sort"], SORT_KEYS if job is None else TASK_SORT_KEYS)
    if job is not None and is_filtered(flags):
        raise click.UsageError("one job is not filtered: leave the options out")
    api = connect(flags["api_url"], flags["token_file"], flags["workspace"])
    if job is None:
        _show_list(api, flags, with_names=False)
    elif wants_tasks or flags["sort"] is not None:
        # Only tasks have an order.
        _show_tasks(api, number_of_job(api, job), flags)
    else:
        _show_job(api, number_of_job(api, job), flags)


def _check_sort(sort: str | None, columns: Collection[str]) -> None:
    for name in [] if sort is None else sort.split(","):
        if name.removeprefix("-") not in columns:
            raise click.UsageError(f"--sort {name}: here there are {', '.join(columns)}")


# Rows of a table that people read; JSON has all tasks, unless --limit is given.
_MAX_ROWS = 1_000


def _show_job(api: ClientApi, number: int, flags: Mapping[str, Any]) -> None:
    job = api.request("GET", f"/v1/jobs/{number}")
    if flags["output_format"] == "json":
        output.json(job)
        return
    output.out(format_jobs([job]))
    output.out(f"{format_progress(job)} {format_bar(job)}".rstrip() if job["endedAt"] is None else format_outcome(job))
    for line in [*format_errors(job), *format_causes(job), *describe_failures(api, job)]:
        output.out(line)


def _show_tasks(api: ClientApi, number: int, flags: Mapping[str, Any]) -> None:
    state, is_json = flags["state"], flags["output_format"] == "json"
    # The default of --limit applies to lists of jobs only.
    is_given = click.get_current_context().get_parameter_source("limit") == ParameterSource.COMMANDLINE
    rows = flags["limit"] if is_given else None if is_json else _MAX_ROWS
    path, filters = f"/v1/jobs/{number}/tasks", None if state is None else {"state": state}
    found = pages(api, path, None if rows is None else rows + 1, filters)
    tasks = found if rows is None else found[:rows]
    if flags["sort"] is not None:
        tasks = sort_by(tasks, flags["sort"], TASK_SORT_KEYS)
    if is_json:
        output.json(tasks)
    else:
        output.out(format_tasks(tasks))
    if len(found) > len(tasks):
        output.err(f"There are more tasks than these {len(tasks)}: --limit N, --state error, --format json")


@click.command("wait", help="Wait until a job has ended; exit code 1 unless every task is done.")
@click.argument("job", type=REFERENCE, required=False)
@option("--download", metavar="DIRECTORY", help="download the files that its tasks have left into this directory")
@with_connection
@with_format
def wait(job: int | str | None, download: str | None, output_format: str, **connection: Any) -> int:
    api = connect(**connection)
    number = _newest_job(api, "to wait for") if job is None else number_of_job(api, job)
    with until_interrupted(lambda: detached(number)):
        code = watch_job(api, number, output_format)
        if download is not None:
            download_files(connection, number, download)
        return code


def _newest_job(api: ClientApi, purpose: str) -> int:
    """Of the workspace. `purpose`: "to wait for"."""
    jobs = pages(api, "/v1/jobs", 1)
    if not jobs:
        raise click.UsageError(f"there is no job {purpose}. Submit one: ropewalk batch run my_script.sh.")
    return int(jobs[0]["number"])


def detached(number: int) -> str:
    return f"Detached: job {number} continues. To wait for it: ropewalk batch wait {number}"


def watch_job(api: ClientApi, number: int, output_format: str) -> int:
    """Waits through outages of the API, and returns the exit code: 0 when every task is done."""
    began, is_known = time.monotonic(), False
    while True:
        try:
            job = api.request("GET", f"/v1/jobs/{number}")
            is_known = True
            if job["status"] not in _OPEN:
                break
            output.progress(format_progress(job), format_bar(job))
        except RopewalkError as error:
            # Until the API has answered once, an error is more likely a wrong address than an outage.
            if not is_known or not is_temporary(error):
                raise
            output.progress(f"Retrying: {error.message}")
        # The end of a long job is noticed late by at most a tenth of its duration.
        time.sleep(min(_MAX_POLL_S, max(0.25, (time.monotonic() - began) * 0.1)))
    if output_format == "json":
        output.json(job)
    else:
        output.out(format_outcome(job))
    for line in [*format_errors(job), *format_causes(job), *describe_failures(api, job)]:
        output.err(line)
    if job["status"] == "error":
        output.err(f"Its output: ropewalk batch logs {number}")
    return OK if job["status"] == "done" else FAILED


def download_files(connection: Mapping[str, Any], number: int, into: str) -> None:
    config = config_of(connection["api_url"], connection["token_file"])
    files = batch.download(number, Path(into), api_url=config.api_url, token=config.token)
    output.err(f"Downloaded {len(files)} {'file' if len(files) == 1 else 'files'} of job {number} into {into}")


@click.command("logs", help="Print the output of a job's tasks. Times are local.")
@click.argument("job", type=REFERENCE, required=False)
@option("--tasks", "--task", metavar="IDS", multiple=True, help="only these task ids, e.g. 0-3,7 (also --task)")
@flag("--instances", help="include messages of the instances")
@with_log_options("the job")
@with_connection
def logs(job: int | str | None, tasks: Sequence[str], instances: bool, **flags: Any) -> None:
    described = f"Stopped reading: the job continues. To read on: ropewalk batch logs {'' if job is None else job}".rstrip()
    with until_interrupted(lambda: described):
        api = connect(flags["api_url"], flags["token_file"], flags["workspace"])
        config = config_of(flags["api_url"], flags["token_file"])
        lines = batch.logs(
            _newest_job(api, "with output") if job is None else number_of_job(api, job),
            tasks=",".join(tasks) or None,
            follow=flags["follow"],
            since=flags["since"],
            instances=instances,
            api_url=config.api_url,
            token=config.token,
        )
        print_lines(lines, flags, format_log_line)


def format_log_line(line: Mapping[str, Any]) -> str:
    """Always one line: `(Task 0)        2025-07-09 16:50:37.844000 Hello from 0`"""
    attempt = line["attempt"]
    again = f" attempt {attempt}" if attempt is not None and attempt > 1 else ""
    who = f"(Instance {line['instance']})" if line["task"] is None else f"(Task {line['task']}{again})"
    return f"{who:<15} {format_log_time(line['at'])} {clean(line['text'])}"


@click.command("why", help="Explain why a job runs or waits, is not larger, has its instance types, and has stopped.")
@click.argument("job", type=REFERENCE)
@with_connection
@with_format
def why(job: int | str, output_format: str, **connection: Any) -> None:
    api = connect(**connection)
    show_why(api.request("GET", f"/v1/jobs/{number_of_job(api, job)}/why"), output_format)


COMMANDS = [status, list_jobs, wait, logs, why, job_at]

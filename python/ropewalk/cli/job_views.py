"""Jobs on a terminal: a table row, one line of progress, and the outcome."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from ropewalk.batch.follow import follow_lines
from ropewalk.batch.paths import pages
from ropewalk.cli.formats import (
    Column,
    format_cost,
    format_span,
    format_table,
    format_task_cost,
    format_time,
    time_of,
)
from ropewalk.cli.sorting import SortKeys
from ropewalk.client_api import ClientApi
from ropewalk.errors import RopewalkError
from ropewalk.printable import clean

Job = Mapping[str, Any]

_ID: Column = ("ID", "<")
_NAME: Column = ("Name", "<")
_COLUMNS: list[Column] = [
    ("State", "^"),
    ("Tasks Done", ">"),
    ("Submitted", ">"),
    ("Finished", ">"),
    ("Approx Cloud Cost", ">"),
    ("Command", "<"),
]
_TASK_COLUMNS: list[Column] = [
    ("Task", ">"),
    ("State", "^"),
    ("Attempt", ">"),
    ("Exit", ">"),
    ("Started", ">"),
    ("Time", ">"),
    ("Approx Cost", ">"),
    ("Instance", "<"),
    ("Reason", "<"),
]
_MAX_COMMAND = 60
_BAR = 20
_MAX_TAILED = 3
_TAIL_LINES = 5
#: A job can have a million failed tasks; `batch status N --state error` lists all.
_MAX_LISTED = 1_000
_MAX_RANGES = 20

SORT_KEYS: SortKeys = {
    "id": lambda job: job["number"],
    "name": lambda job: job["name"],
    "state": lambda job: job["status"],
    "done": lambda job: job["tasks"]["done"],
    "submitted": lambda job: job["submittedAt"],
    "finished": lambda job: job["endedAt"] or "9999",
    "command": lambda job: job["command"],
}


#: Of the tasks of a job.
TASK_SORT_KEYS: SortKeys = {
    "id": lambda task: task["id"],
    "state": lambda task: task["state"],
    "attempt": lambda task: task["attempt"],
    "exit": lambda task: 256 if task["exitCode"] is None else task["exitCode"],
    "started": lambda task: task["startedAt"] or "9999",
    "ended": lambda task: task["endedAt"] or "9999",
}


def format_jobs(jobs: Sequence[Job], *, with_names: bool = False) -> str:
    """The columns of Coiled's table; `with_names` adds the names of the jobs."""
    rows = [[str(job["number"]), *([job["name"]] if with_names else []), *_cells(job)] for job in jobs]
    return format_table([_ID, *([_NAME] if with_names else []), *_COLUMNS], rows)


def _cells(job: Job) -> list[str]:
    tasks, command = job["tasks"], job["command"]
    return [
        job["status"],
        f"{tasks['done']:>3} / {tasks['total']:>3}",
        format_time(job["submittedAt"]),
        format_time(job["endedAt"]),
        format_cost(job.get("cost")),
        f"{command[: _MAX_COMMAND - 1]}…" if len(command) > _MAX_COMMAND else command,
    ]


def format_tasks(tasks: Iterable[Mapping[str, Any]]) -> str:
    return format_table(_TASK_COLUMNS, [_task_cells(task) for task in tasks])


def _task_cells(task: Mapping[str, Any]) -> list[str]:
    code = task["exitCode"]
    return [
        str(task["id"]),
        task["state"],
        str(task["attempt"] or ""),
        (task["signal"] or "") if code is None else str(code),
        format_time(task["startedAt"]),
        format_span(task["startedAt"], task["endedAt"]),
        format_task_cost(task["cost"]),
        task["instance"] or "",
        task["reason"] or "",
    ]


def format_progress(job: Job) -> str:
    """One line while it runs: `Job 12 running: 3 / 10 done, 4 running, 1 error`."""
    tasks = job["tasks"]
    parts = [f"{tasks['done']} / {tasks['total']} done"]
    parts += [f"{tasks[state]} {state}" for state in ("running", "error") if tasks[state] > 0]
    if job.get("staleSince") is not None:
        parts.append(f"as of {format_time(job['staleSince'])}")
    reason = job["reason"]
    why = "" if job["status"] == "running" or reason is None else f" ({clean(reason['text'])})"
    return f"Job {job['number']} {job['status']}: {', '.join(parts)}{why}"


def format_outcome(job: Job) -> str:
    """One line when it has ended: `Job 12 done: 10 / 10 done in 12.3 s`."""
    tasks, reason = job["tasks"], job["reason"]
    parts = [f"{tasks['done']} / {tasks['total']} done"]
    parts += [f"{tasks[state]} {state}" for state in ("error", "cancelled") if tasks[state] > 0]
    span = format_span(job["startedAt"], job["endedAt"])
    why = "" if reason is None or job["status"] == "done" else f" ({reason['text']})"
    return f"Job {job['number']} {job['status']}: {', '.join(parts)}{f' in {span}' if span else ''}{why}"


def format_errors(job: Job) -> list[str]:
    """The newest errors of tasks, one line each. Task numbers are the user's ids."""
    return [f"(Task {one['task']}) attempt {one['attempt']}: {clean(one['text'])}" for one in job["recentErrors"]]


def format_causes(job: Job) -> list[str]:
    """`  3 x EXIT_1: exit code 1: ValueError`, the most frequent cause first; empty for a single attempt, which the
    errors above show."""
    failures = job.get("failures", [])
    if sum(one["count"] for one in failures) < 2:
        return []
    return ["Failed attempts by cause:", *(f"  {one['count']} x {one['code']}: {clean(one['text'])}" for one in failures)]


def format_bar(job: Job, now_s: float | None = None) -> str:
    """`[#########           ] 45 %, 2.5/s, 22 s left`; empty before the first task has started and after the end."""
    tasks = job["tasks"]
    run = tasks["done"] + tasks["error"]
    ended = run + tasks["cancelled"]
    if job["startedAt"] is None or job["endedAt"] is not None or tasks["total"] == 0:
        return ""
    bar = f"[{'#' * (ended * _BAR // tasks['total']):<{_BAR}}] {100 * ended // tasks['total']} %"
    seconds = (time.time() if now_s is None else now_s) - time_of(job["startedAt"]).timestamp()
    if run == 0 or seconds <= 0:
        return bar
    # Excludes cancelled tasks, because cancelling takes no time.
    rate = run / seconds
    return f"{bar}, {_rate(rate)}, {_left((tasks['total'] - ended) / rate)} left"


def _rate(per_second: float) -> str:
    """Slow jobs show tasks per minute or hour, because `0.0/s` is meaningless."""
    if per_second >= 0.1:
        return f"{per_second:.1f}/s"
    return f"{per_second * 60:.1f}/min" if per_second * 60 >= 0.1 else f"{per_second * 3_600:.1f}/h"


def _left(seconds: float) -> str:
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} m {whole % 60} s" if whole < 3_600 else f"{whole // 3_600} h {whole % 3_600 // 60} m"


def describe_failures(api: ClientApi, job: Job) -> list[str]:
    """The failed tasks, and the last lines of the first of them: of stderr, or of stdout when stderr is empty.
    Omits output that cannot be read now."""
    if job["tasks"]["error"] == 0:
        return []
    path = f"/v1/jobs/{job['number']}"
    try:
        failed = pages(api, f"{path}/tasks", _MAX_LISTED, {"state": "error"})
    except RopewalkError:
        return []
    if not failed:
        return []
    first = failed[:_MAX_TAILED]
    try:
        tails = _tails(api, path, first)
    except RopewalkError:
        tails = {}
    lines = [f"(Task {task['id']})   {clean(text)}" for task in first for text in tails.get(task["id"], [])]
    has_more = job["tasks"]["error"] > len(failed)
    return [f"Failed task ids: {format_ids([task['id'] for task in failed], has_more=has_more)}", *lines]


def _tails(api: ClientApi, path: str, tasks: Sequence[Mapping[str, Any]]) -> dict[int, list[str]]:
    """The output of each task's last attempt."""
    attempts = {task["id"]: task["attempt"] for task in tasks}
    written: dict[tuple[int, str], list[str]] = {}
    query = {"tasks": ",".join(map(str, attempts))}
    for line in follow_lines(api, f"{path}/logs", query, key_of=lambda _: "", follow=False, resumes=False):
        if line["stream"] != "agent" and line["attempt"] == attempts.get(line["task"], -1):
            texts = written.setdefault((line["task"], line["stream"]), [])
            texts.append(line["text"])
            del texts[:-_TAIL_LINES]
    return {id: written.get((id, "stderr")) or written.get((id, "stdout"), []) for id in attempts}


def format_ids(ids: Sequence[int], *, has_more: bool = False) -> str:
    """`3, 7-9`: sorted ids with neighbours as a range. ``has_more``: there are ids beyond these."""
    ranges: list[list[int]] = []
    for id in ids:
        if ranges and ranges[-1][1] + 1 == id:
            ranges[-1][1] = id
        else:
            ranges.append([id, id])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in islice(ranges, _MAX_RANGES)]
    return ", ".join(shown) + (" and more" if has_more or len(ranges) > _MAX_RANGES else "")

"""Clusters on a terminal: a table row, one line of progress, and all details."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ropewalk.cli.formats import (
    Column,
    format_cost,
    format_dollars,
    format_span,
    format_table,
    format_time,
    time_of,
)
from ropewalk.cli.terminal import one_line

Cluster = Mapping[str, Any]
Instance = Mapping[str, Any]

_COLUMNS: list[Column] = [
    ("ID", "<"),
    ("Name", "<"),
    ("State", "^"),
    ("Workers", ">"),
    ("Created", ">"),
    ("Ended", ">"),
    ("Approx Cloud Cost", ">"),
    ("User", "<"),
]
_STAGES: Mapping[str, str] = {
    "launched": "Launch",
    "running": "Boot",
    "agent": "Agent",
    "environment": "Environment",
    "dask": "Dask",
}
_MAX_STAGE_ROWS = 10


def format_clusters(clusters: Sequence[Cluster]) -> str:
    return format_table(_COLUMNS, [_row(cluster) for cluster in clusters])


def _row(cluster: Cluster) -> list[str]:
    times = [format_time(cluster["createdAt"]), format_time(cluster["endedAt"])]
    names = [str(cluster["number"]), cluster["name"], cluster["status"], _workers(cluster)]
    return [*names, *times, format_cost(cluster.get("cost")), cluster["user"]]


def format_cluster(cluster: Cluster) -> str:
    """One line: `Cluster 12 (blue) starting: 1 / 4 workers, 1 failed`."""
    dask, job, waiting, reason = cluster["dask"], cluster["job"], cluster.get("waitingForCapacity"), cluster["reason"]
    parts = [f"{_workers(cluster)} workers" if job is None else f"for job {job}"]
    if dask is not None and dask["workersErrored"] > 0:
        parts.append(f"{dask['workersErrored']} failed")
    head = _head(cluster)
    if cluster["status"] == "starting" and head is not None and dask is not None and dask["schedulerAddress"] is None:
        parts.append(f"scheduler {_state(head)}")
    if waiting is not None:
        parts.append(f"waiting for capacity since {format_time(waiting['since'])}")
    if cluster.get("staleSince") is not None:
        parts.append(f"as of {format_time(cluster['staleSince'])}")
    why = "" if reason is None else f" ({reason['text']})"
    return f"Cluster {cluster['number']} ({cluster['name']}) {cluster['status']}: {', '.join(parts)}{why}"


def format_details(cluster: Cluster) -> str:
    """The line above, the scheduler, the workers by state, failures with their reasons, and events."""
    ready = format_span(cluster["createdAt"], cluster["readyAt"])
    by = f"{format_time(cluster['createdAt'])} by {cluster['user']}"
    lines = [format_cluster(cluster), _fact("Created", f"{by}, ready after {ready}" if ready else by)]
    if cluster["endedAt"] is not None:
        lines.append(_fact("Ended", format_time(cluster["endedAt"])))
    if cluster["job"] is None:
        lines += _dask_facts(cluster)
    else:
        lines.append(_fact("Instances", _count_states(cluster["instances"])))
    if cluster.get("cost"):
        lines.append(_fact("Cost", _cost(cluster["cost"])))
    if cluster.get("gpus"):
        gpus = cluster["gpus"]
        idle = f"{gpus['idle']} of {gpus['total']} idle since {format_time(gpus['idleSince'])}"
        lines.append(_fact("GPUs", idle if gpus["idle"] else f"{gpus['total']}, none idle"))
    if cluster.get("waitingForCapacity"):
        lines.append(_fact("Waiting", _wait(cluster["waitingForCapacity"])))
    stages = _format_stages(cluster["instances"])
    failures = [format_failure(failure) for failure in group_failures(cluster)]
    events = [f"  {format_event(one)}" for one in cluster["events"]]
    for title, part in (("Start", stages), ("Failures", failures), ("Events", events)):
        if part:
            lines += ["", title, *part]
    return "\n".join(lines)


def format_event(event: Mapping[str, Any]) -> str:
    """`2024-11-18 17:25:10 #9 READY: 3 of 3 instances are ready`; events of jobs have no numbers."""
    number = f"#{event['seq']} " if "seq" in event else ""
    return f"{format_time(event['at'])} {number}{event['code']}: {one_line(event['text'])}"


def group_failures(cluster: Cluster) -> list[dict[str, Any]]:
    """By code, most frequent first. The cluster counts them; instances that failed moments ago are added to its counts."""
    groups = {one["code"]: dict(one) for one in cluster["failures"]}
    counted = set(groups)
    for instance in cluster["instances"]:
        process, why = instance["process"], instance["reason"]
        if process is not None and process["state"] == "error":
            why = process["reason"] or why
        if why is not None and why["code"] not in counted:
            group = groups.setdefault(why["code"], {"code": why["code"], "text": why["text"], "count": 0})
            group["count"] += 1
    return sorted(groups.values(), key=lambda one: -one["count"])


def format_failure(failure: Mapping[str, Any]) -> str:
    """`2 x ENVIRONMENT_FAILED: the requirement "nonsense" cannot be installed`"""
    return f"  {failure['count']} x {failure['code']}: {one_line(failure['text'])}"


def _cost(cost: Mapping[str, Any]) -> str:
    rate = "" if cost["dollarsPerHour"] == 0 else f", {format_dollars(cost['dollarsPerHour'])} an hour now"
    return f"about {format_dollars(cost['dollars'])}{rate}"


def _wait(waiting: Mapping[str, Any]) -> str:
    end = "" if waiting["until"] is None else f", until {format_time(waiting['until'])} at the latest"
    since, next_try = format_time(waiting["since"]), format_time(waiting["nextTry"])
    return f"since {since}, next attempt at {next_try}{end}: {waiting['text']}"


def _dask_facts(cluster: Cluster) -> list[str]:
    head, dask = _head(cluster), cluster["dask"]
    scheduler = "no instance" if head is None else _state(head)
    address = None if dask is None else dask["schedulerAddress"]
    facts = [_fact("Scheduler", scheduler if address is None else f"{scheduler} at {address}")]
    if dask is None:
        return facts
    workers = _count_states([one for one in cluster["instances"] if one["role"] == "worker"])
    facts.append(_fact("Workers", f"{dask['workersWanted']} wanted{f': {workers}' if workers else ''}"))
    adaptive, tasks = dask["adaptive"], dask.get("tasks")
    if adaptive is not None:
        facts.append(_fact("Adaptive", f"between {adaptive['minimum']} and {adaptive['maximum']} workers"))
    if tasks is not None:
        names = {
            "processing": "processing",
            "waiting": "waiting",
            "noWorker": "without a worker",
            "memory": "in memory",
            "erred": "erred",
        }
        some = [f"{tasks[key]} {name}" for key, name in names.items() if tasks[key] > 0]
        facts.append(_fact("Tasks", ", ".join(some) or "none"))
    facts += _usage_facts(dask.get("usage") or {})
    if dask.get("clients") is not None:
        idle = dask.get("idleSince")
        facts.append(_fact("Clients", f"{dask['clients']}{'' if idle is None else f', idle since {format_time(idle)}'}"))
    return facts


def _usage_facts(usage: Mapping[str, Any]) -> list[str]:
    facts, memory = [], usage.get("memory")
    if memory is not None:
        facts.append(_fact("Memory", f"{memory['usedBytes'] / 2**30:.1f} of {memory['limitBytes'] / 2**30:.1f} GiB"))
    computed = []
    for group in usage.get("groups", []):
        erred = f", {group['erred']} erred" if group["erred"] else ""
        computed.append(f"{group['tasks']} x {group['name']} {group['computeSeconds']:.1f} s{erred}")
    if computed:
        facts.append(_fact("Computed", "; ".join(computed)))
    raised = ", ".join(f"{one['count']} x {one['type']}" for one in usage.get("exceptions", []))
    return [*facts, _fact("Exceptions", raised)] if raised else facts


def _format_stages(instances: Sequence[Instance]) -> list[str]:
    """The duration of each stage, one row per instance, the slowest first. Empty when no instance has stages."""
    known = [one for one in instances if len(one.get("stages", [])) > 1]
    if not known:
        return []
    shown = [name for name in _STAGES if any(stage["name"] == name for one in known for stage in one["stages"])]
    columns: list[Column] = [("Instance", "<"), ("Role", "<"), ("Requested", ">")]
    columns += [*((_STAGES[name], ">") for name in shown), ("Total", ">")]
    slowest = sorted(known, key=lambda one: time_of(one["stages"][0]["at"]) - time_of(one["stages"][-1]["at"]))
    rows = [_stage_cells(one, shown) for one in slowest[:_MAX_STAGE_ROWS]]
    more = len(known) - _MAX_STAGE_ROWS
    return [format_table(columns, rows), *([f"  and {more} faster instances"] if more > 0 else [])]


def _stage_cells(instance: Instance, shown: Sequence[str]) -> list[str]:
    stages = instance["stages"]
    first, last = stages[0]["at"], stages[-1]["at"]
    # Duration of each stage since the previous known one.
    spans = {stage["name"]: format_span(before["at"], stage["at"]) for before, stage in zip(stages, stages[1:])}
    cells = [instance["id"], instance["role"], format_time(first)]
    return [*cells, *(spans.get(name, "") for name in shown), format_span(first, last)]


def _head(cluster: Cluster) -> Instance | None:
    return next((one for one in cluster["instances"] if one["role"] == "head"), None)


def _count_states(instances: Sequence[Instance]) -> str:
    """`2 started, 1 starting (environment)`: one group for each state."""
    return ", ".join(f"{count} {state}" for state, count in Counter(map(_state, instances)).items())


def _state(instance: Instance) -> str:
    """State of an instance and its process; a failure's code follows in brackets."""
    process = instance["process"]
    why = (None if process is None else process["reason"]) or instance["reason"]
    because = "" if why is None else f" ({why['code']})"
    if instance["state"] != "ready":
        return f"{instance['state']}{because}"
    if process is None:
        return "booted"
    if process["state"] in ("pending", "starting"):
        return f"starting ({process['stage']})"
    return f"{process['state']}{because}"


def _workers(cluster: Cluster) -> str:
    dask = cluster["dask"]
    if dask is not None:
        return f"{dask['workersStarted']} / {dask['workersWanted']}"
    # No worker has started before the scheduler reports; instances of a job are not Dask workers.
    return f"0 / {max(0, cluster['target'] - 1)}" if cluster["job"] is None else "-"


def _fact(name: str, value: str) -> str:
    return f"{name:<10} {one_line(value)}"

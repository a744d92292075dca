"""`batch at` and `cluster at`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from ropewalk.cli.formats import format_dollars, format_table, format_time
from ropewalk.cli.options import REFERENCE, SINCE, connect, with_connection, with_format
from ropewalk.cli.session import number_of_cluster, number_of_job, output
from ropewalk.cli.terminal import one_line
from ropewalk.past import past_path

_MAX_EVENTS = 10


@click.command("at", help="Show a cluster, open or ended, as of a past time. Times are local.")
@click.argument("cluster", type=REFERENCE)
@click.argument("time", type=SINCE)
@with_connection
@with_format
def cluster_at(cluster: int | str, time: datetime, output_format: str, **connection: Any) -> None:
    api = connect(**connection)
    past = api.request("GET", past_path(f"/v1/clusters/{number_of_cluster(api, cluster)}", time))
    workers = "" if past["workersStarted"] is None else f", {past['workersStarted']} workers started"
    lines = [
        f"Cluster {past['number']} ({past['name']}) at {format_time(past['at'])}: {past['status']}{_reason_of(past)}",
        f"Instances: {len(past['instances'])} of {past['target']}{workers}",
        *_money_and_instances(past),
    ]
    for event in past["events"][-_MAX_EVENTS:]:
        lines.append(f"{format_time(event['at'])}  {event['code']}  {one_line(event['text'])}")
    _print(past, output_format, lines)


@click.command("at", help="Show a job, open or ended, as of a past time. Times are local.")
@click.argument("job", type=REFERENCE)
@click.argument("time", type=SINCE)
@with_connection
@with_format
def job_at(job: int | str, time: datetime, output_format: str, **connection: Any) -> None:
    api = connect(**connection)
    past = api.request("GET", past_path(f"/v1/jobs/{number_of_job(api, job)}", time))
    tasks = ", ".join(f"{count} {state}" for state, count in past["tasks"].items() if state != "total" and count > 0)
    lines = [
        f"Job {past['number']} ({past['name']}) at {format_time(past['at'])}: {past['status']}{_reason_of(past)}",
        f"Tasks: {tasks} of {past['tasks']['total']}",
        f"Instances: {len(past['instances'])}",
        *_money_and_instances(past),
    ]
    _print(past, output_format, lines)


def _print(past: Mapping[str, Any], output_format: str, lines: list[str]) -> None:
    if output_format == "json":
        output.json(past)
    else:
        output.out("\n".join(lines))


def _money_and_instances(past: Mapping[str, Any]) -> list[str]:
    money = f"Cost so far: {format_dollars(past['dollars'])}, {format_dollars(past['dollarsPerHour'])} per hour"
    return [money] if past["instances"] == [] else [money, _format_instances(past["instances"])]


def _format_instances(instances: Sequence[Mapping[str, Any]]) -> str:
    titles = ("Instance", "Role", "Type", "State", "Dask", "Reached")
    rows = []
    for one in instances:
        kind = f"{one['type']} (spot)" if one["market"] == "spot" else one["type"]
        reached = one["stages"][-1]["name"] if one["stages"] else ""
        rows.append([one["id"], one["role"], kind, one["state"], one["process"] or "", reached])
    return format_table([(title, "<") for title in titles], rows)


def _reason_of(past: Mapping[str, Any]) -> str:
    return "" if past["reason"] is None else f" ({one_line(past['reason']['text'])})"

"""`batch events` and `cluster events`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from ropewalk import batch
from ropewalk.cli.cluster_views import format_event
from ropewalk.cli.options import AMOUNT, LIMIT, REFERENCE, SINCE, config_of, connect, flag, option, together, with_connection
from ropewalk.cli.session import number_of_cluster, number_of_job, output, until_interrupted
from ropewalk.events import cluster_events as read_cluster_events


def _with_options(noun: str) -> Callable[[Any], Any]:
    return together(
        [
            flag("-f", "--follow", help=f"continue until the {noun} has ended"),
            option("--since", metavar="TIME", type=SINCE, help="only events since a time (2026-01-31T12:00) or an age (10m)"),
            click.option(
                "--format",
                "output_format",
                type=click.Choice(["text", "json"]),
                default="text",
                help="output format; json is one object per line",
            ),
        ]
    )


@click.command("events", help="Print the events of a job, oldest first. Times are local.")
@click.argument("job", type=REFERENCE)
@_with_options("job")
@with_connection
def job_events(job: int | str, follow: bool, since: Any, output_format: str, **connection: Any) -> None:
    with until_interrupted(lambda: f"Stopped reading: job {job} continues. To read on: ropewalk batch events {job}"):
        number = number_of_job(connect(**connection), job)
        config = config_of(connection["api_url"], connection["token_file"])
        _print(batch.events(number, follow=follow, since=since, api_url=config.api_url, token=config.token), output_format)


@click.command("events", help="Print the events of a cluster, oldest first. Times are local.")
@click.argument("cluster", type=REFERENCE)
@_with_options("cluster")
@option("--after", metavar="EVENT", type=AMOUNT, help="only events with greater numbers: the next page")
@option("--limit", metavar="COUNT", type=LIMIT, help="at most so many events")
@with_connection
def cluster_events(
    cluster: int | str, follow: bool, since: Any, after: int | None, limit: int | None, output_format: str, **connection: Any
) -> None:
    with until_interrupted(lambda: f"Stopped reading: cluster {cluster} continues. To read on: ropewalk cluster events {cluster}"):
        number = number_of_cluster(connect(**connection), cluster)
        config = config_of(connection["api_url"], connection["token_file"])
        page: Any = {"after": after, "limit": limit, "follow": follow, "since": since}
        _print(read_cluster_events(number, **page, api_url=config.api_url, token=config.token), output_format)


def _print(events: Iterator[Mapping[str, Any]], output_format: str) -> None:
    for event in events:
        if output_format == "json":
            output.json(event, indent=None)
        else:
            output.out(format_event(event))

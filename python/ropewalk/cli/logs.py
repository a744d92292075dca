"""`ropewalk logs N`: output of a cluster or of a job: of the scheduler, of workers, or of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import click

from ropewalk import batch
from ropewalk.cli.clusters import print_cluster_logs
from ropewalk.cli.jobs import format_log_line
from ropewalk.cli.log_lines import print_lines
from ropewalk.cli.options import REFERENCE, config_of, connect, flag, option, with_connection, with_log_options
from ropewalk.cli.session import number_of_cluster, number_of_job, output, until_interrupted
from ropewalk.client_api import ClientApi
from ropewalk.clusters import instances_of
from ropewalk.errors import RopewalkError
from ropewalk.logs import check_words, is_wanted
from ropewalk.views import ClusterView


@click.command("logs", help="Print the output of a cluster or job. Times are local.")
@click.argument("cluster", type=REFERENCE)
@flag("--scheduler", help="output of the scheduler, or of the head instance of a job")
@option("--workers", metavar="WORKERS", help="output of workers: all, any (one of them), or names, states and addresses (a,b)")
@with_log_options("it")
# Coiled's name of --workspace.
@click.option("--account", hidden=True, help="")
@click.option("--profile", hidden=True, help="")
@with_connection
def logs(cluster: int | str, scheduler: bool, workers: str | None, account: str | None, profile: str | None, **flags: Any) -> None:
    if profile is not None:
        output.err("note: --profile has no effect: the API reads the logs, with its own credentials")
    with until_interrupted(lambda: f"Stopped reading: {cluster} continues. To read on: ropewalk logs {cluster}"):
        api = connect(flags["api_url"], flags["token_file"], flags["workspace"] or account)
        number = _number_of(api, cluster)
        view = _found(lambda: api.request("GET", f"/v1/clusters/{number}"))
        is_of_wanted = _selection(api, view, scheduler, workers)
        if view is not None and view["job"] is None:
            return print_cluster_logs(api, number, flags, is_of_wanted)
        config = config_of(flags["api_url"], flags["token_file"])
        follow, since = flags["follow"], flags["since"]
        lines = batch.logs(number, follow=follow, since=since, api_url=config.api_url, token=config.token)
        print_lines((line for line in lines if is_of_wanted(line["instance"])), flags, format_log_line)


def _selection(api: ClientApi, view: Any, scheduler: bool, workers: str | None) -> Callable[[str], bool]:
    if view is None or (not scheduler and workers is None):
        return lambda _: True
    instances = instances_of(api, cast(ClusterView, view))
    heads = {one["id"] for one in instances if one["role"] == "head"}
    if workers is not None:
        try:
            check_words(view["name"], heads, instances, workers)
        except ValueError as error:
            raise click.UsageError(f"--workers: {error}") from None
    return is_wanted(view["name"], heads, instances, scheduler=scheduler, workers=False if workers is None else workers)


def _number_of(api: ClientApi, reference: int | str) -> int:
    """An open cluster of that name, or else the newest job."""
    open_one = _found(lambda: number_of_cluster(api, reference))
    return number_of_job(api, reference) if open_one is None else int(open_one)


def _found(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except RopewalkError as error:
        if error.code != "NOT_FOUND":
            raise
        return None

"""`ropewalk cluster ...`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import click

from ropewalk.batch.follow import follow_lines
from ropewalk.cli.cluster_views import format_cluster, format_clusters, format_details
from ropewalk.cli.formats import format_log_time
from ropewalk.cli.log_lines import print_lines
from ropewalk.cli.options import (
    REFERENCE,
    TIMEOUT,
    connect,
    flag,
    option,
    with_connection,
    with_filters,
    with_format,
    with_log_options,
)
from ropewalk.cli.past import cluster_at
from ropewalk.cli.session import is_filtered, newest, number_of_cluster, output, until_interrupted
from ropewalk.cli.why import show_why
from ropewalk.client_api import ClientApi, is_temporary
from ropewalk.clusters import instances_of
from ropewalk.errors import ClusterTimeoutError, RopewalkError
from ropewalk.printable import clean
from ropewalk.times import iso_of
from ropewalk.views import ClusterView

_STATUSES = ("waiting", "pending", "starting", "scaling", "ready", "stopping", "stopped", "error")
_POLL_S = 1.0
_TIMEOUT_S = 600.0
_REFRESH_S = 5.0


@click.command("list", help="List Dask clusters, newest first. Times are local.")
@flag("--jobs", help="also the clusters of batch jobs")
@option("--kind", type=click.Choice(["dask", "job"]), help="only Dask clusters, or only those of batch jobs")
@with_filters(_STATUSES)
@with_connection
@with_format
def list_clusters(**flags: Any) -> None:
    api = connect(flags["api_url"], flags["token_file"], flags["workspace"])
    kind = flags["kind"] or (None if flags["jobs"] else "dask")
    clusters = newest(api, "/v1/clusters", flags, **({} if kind is None else {"kind": kind}))
    if flags["output_format"] == "json":
        output.json(clusters)
    elif not clusters and is_filtered(flags):
        output.err("No cluster matches.")
    elif not clusters:
        output.err("There are no clusters yet. Start one in Python: ropewalk.Cluster()")
    else:
        output.out(format_clusters(clusters))


@click.command("get", help="Show a cluster: scheduler, workers, failures and events. Times are local.")
@click.argument("cluster", type=REFERENCE)
@with_connection
@with_format
def get(cluster: int | str, output_format: str, **connection: Any) -> None:
    api = connect(**connection)
    view = api.request("GET", f"/v1/clusters/{number_of_cluster(api, cluster)}")
    if output_format == "json":
        output.json(view)
    else:
        output.out(format_details(view))


@click.command("why", help="Explain why a cluster runs or waits, is not larger, has its instance types, and has stopped.")
@click.argument("cluster", type=REFERENCE)
@with_connection
@with_format
def why(cluster: int | str, output_format: str, **connection: Any) -> None:
    api = connect(**connection)
    show_why(api.request("GET", f"/v1/clusters/{number_of_cluster(api, cluster)}/why"), output_format)


@click.command("stop", help="Stop a cluster: its scheduler and workers end, and its instances are released.")
@click.argument("cluster", type=REFERENCE)
@flag("--wait", help="wait until all its instances have ended")
@option("--timeout", type=TIMEOUT, help="maximum time to wait, e.g. 90s or 5m (default: 10m)")
@with_connection
@with_format
def stop(cluster: int | str, wait: bool, timeout: float | None, output_format: str, **connection: Any) -> None:
    api = connect(**connection)
    number = number_of_cluster(api, cluster)
    with until_interrupted(lambda: f"Detached: cluster {number} is stopping. To see it: ropewalk cluster get {number}"):
        api.request("POST", f"/v1/clusters/{number}/stop")
        answer: Mapping[str, Any] = {"number": number}
        if wait:
            answer = _wait_for_end(api, number, _TIMEOUT_S if timeout is None else timeout)
    if output_format == "json":
        output.json(answer)
    else:
        output.out(format_cluster(answer) if wait else f"Cluster {number}: stopping")


def _wait_for_end(api: ClientApi, number: int, timeout_s: float) -> Mapping[str, Any]:
    """Retries through outages of the API. Raises ClusterTimeoutError."""
    deadline = time.monotonic() + timeout_s
    while True:
        left = deadline - time.monotonic()
        try:
            view: Mapping[str, Any] = api.request("GET", f"/v1/clusters/{number}", retry_for_s=max(0.0, min(60.0, left)))
            if view["endedAt"] is not None:
                return view
            output.progress(format_cluster(view))
        except RopewalkError as error:
            if not is_temporary(error):
                raise
            output.progress(f"Retrying: {error.message}")
        if left <= 0:
            hint = f"It goes on stopping: see ropewalk cluster get {number}."
            raise ClusterTimeoutError(f"cluster {number} has not ended in time", code="TIMEOUT", hint=hint)
        time.sleep(min(_POLL_S, max(0.0, left)))


@click.command("logs", help="Print the output of a cluster's scheduler and workers. Times are local.")
@click.argument("cluster", type=REFERENCE)
@option("--instance", metavar="ID", help="only this instance")
@flag("--agents", help="include messages of Ropewalk's agents")
@with_log_options("the cluster")
@with_connection
def logs(cluster: int | str, **flags: Any) -> None:
    def describe() -> str:
        return f"Stopped reading: cluster {cluster} continues. To read on: ropewalk cluster logs {cluster}"

    with until_interrupted(describe):
        api = connect(flags["api_url"], flags["token_file"], flags["workspace"])
        print_cluster_logs(api, number_of_cluster(api, cluster), flags)


def print_cluster_logs(
    api: ClientApi, number: int, flags: dict[str, Any], is_wanted: Callable[[str], bool] = lambda _: True
) -> None:
    """`is_wanted`: by the id of the instance."""
    query = {} if flags.get("instance") is None else {"instance": flags["instance"]}
    if flags["since"] is not None:
        query["since"] = iso_of(flags["since"])
    path = f"/v1/clusters/{number}/logs"
    lines = follow_lines(api, path, query, key_of=_file_of, follow=flags["follow"], resumes=True)
    name_of = _names(api, number)
    of_dask = (line for line in lines if flags.get("agents") or line["stream"] != "agent")
    wanted = (line for line in of_dask if is_wanted(line["instance"]))
    print_lines(wanted, flags, lambda line: _format_line(line, name_of(line["instance"])))


def _file_of(line: Mapping[str, Any]) -> object:
    """The output of an agent and of its process are two files, each with its lines in order."""
    return line["instance"], line["stream"] == "agent"


def _format_line(line: Mapping[str, Any], name: str) -> str:
    """Always one line: `(blue-worker-q3x) 2025-07-09 16:50:37.844000 Start worker at: …`"""
    who = f"({name}{' agent' if line['stream'] == 'agent' else ''})"
    return f"{who:<17} {format_log_time(line['at'])} {clean(line['text'])}"


def _names(api: ClientApi, number: int) -> Callable[[str], str]:
    """Dask's names of instances that the cluster has, or had at its end; the ids of all others."""
    names: dict[str, str] = {}
    refreshed_at: float | None = None

    def name_of(instance: str) -> str:
        nonlocal refreshed_at
        if instance not in names and (refreshed_at is None or time.monotonic() - refreshed_at > _REFRESH_S):
            refreshed_at = time.monotonic()
            try:
                view = api.request("GET", f"/v1/clusters/{number}", retry_for_s=0)
                found = instances_of(api, cast(ClusterView, view))
                names.update({one["id"]: one["process"]["name"] for one in found if one["process"] is not None})
            except RopewalkError:
                # Without names, lines are printed with instance ids.
                pass
        return names.get(instance, instance)

    return name_of


COMMANDS = [list_clusters, get, logs, why, cluster_at, stop]

"""`ropewalk cluster dashboard` and `cluster jupyter`: print a link. It signs its opener in, and is valid for minutes."""

from __future__ import annotations

from typing import Any

import click

from ropewalk.cli.formats import format_time
from ropewalk.cli.options import REFERENCE, connect, with_connection, with_format
from ropewalk.cli.session import number_of_cluster, output


@click.command("dashboard", help="Print a link to the Dask dashboard of a cluster. It signs its opener in: do not share it.")
@click.argument("cluster", type=REFERENCE)
@with_connection
@with_format
def dashboard(cluster: int | str, output_format: str, **connection: Any) -> None:
    _print("dashboard", cluster, output_format, connection)


@click.command(
    "jupyter",
    help="Print a link to the Jupyter server of a cluster that has one. It allows running code there: do not "
    "share it.",
)
@click.argument("cluster", type=REFERENCE)
@with_connection
@with_format
def jupyter(cluster: int | str, output_format: str, **connection: Any) -> None:
    _print("jupyter", cluster, output_format, connection)


def _print(site: str, cluster: int | str, output_format: str, connection: dict[str, Any]) -> None:
    api = connect(**connection)
    link = api.request("POST", f"/v1/clusters/{number_of_cluster(api, cluster)}/{site}-link")
    if output_format == "json":
        output.json(link)
        return
    output.out(link["url"])
    output.err(f"Open it before {format_time(link['expiresAt'])}; run the command again for a new link.")

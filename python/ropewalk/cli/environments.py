"""`ropewalk env list`."""

from __future__ import annotations

from typing import Any

import click

from ropewalk.batch.paths import pages
from ropewalk.cli.formats import format_table, format_time
from ropewalk.cli.options import connect, with_connection, with_format
from ropewalk.cli.session import output


@click.command("list", help="List the named environments of the workspace. Times are local.")
@with_connection
@with_format
def list_environments(output_format: str, **connection: Any) -> None:
    found = pages(connect(**connection), "/v1/environments", None)
    if output_format == "json":
        output.json(found)
        return
    rows = [
        [one["name"], str(one["version"]), one["summary"], format_time(one["updatedAt"]), one["user"]] for one in found
    ]
    titles = ("Name", "Version", "Content", "Changed", "By")
    output.out(format_table([(title, "<") for title in titles], rows))


COMMANDS = [list_environments]

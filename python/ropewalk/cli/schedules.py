"""`ropewalk batch schedule list | show | pause | resume | trigger | delete`. `ropewalk.batch.create_schedule` creates one."""

from __future__ import annotations

from typing import Any

import click

from ropewalk import batch
from ropewalk.cli.formats import format_table, format_time
from ropewalk.cli.options import config_of, with_connection, with_format
from ropewalk.cli.session import output

@click.command("list", help="List the schedules of the workspace.")
@with_connection
@with_format
def list_schedules(**flags: Any) -> None:
    found = batch.list_schedules(**_connection(flags))
    if flags["output_format"] == "json":
        output.json(found)
        return
    titles = ("Name", "State", "Cron", "Time zone", "Last job", "By", "Command")
    keys = ("name", "state", "cron", "timezone", "lastJob", "user", "command")
    rows = [["" if one[key] is None else str(one[key]) for key in keys] for one in map(dict, found)]
    output.out(format_table([(title, "<") for title in titles], rows))


@click.command("show", help="Next and last runs of a schedule. Times are local.")
@click.argument("name")
@with_connection
@with_format
def show(name: str, **flags: Any) -> None:
    found = batch.get_schedule(name, **_connection(flags))
    if flags["output_format"] == "json":
        output.json(found)
        return
    why = "" if found["reason"] is None else f": {found['reason']}"
    following = ", ".join(format_time(at) for at in found["nextRuns"]) or "none"
    output.out(f"{found['name']}: {found['state']}{why}\n{found['cron']} ({found['timezone']}), {found['command']}\nNext: {following}\n")
    rows = [
        [format_time(run["at"]), run["state"], "" if run["job"] is None else str(run["job"]), run["text"] or ""]
        for run in found["runs"]
    ]
    output.out(format_table([(title, "<") for title in ("Run", "State", "Job", "Why")], rows))


_VERBS = {
    "pause": ("Run no more jobs for now.", "is paused", batch.pause_schedule),
    "resume": ("Go on after a pause, or after it has stopped by itself.", "goes on", batch.resume_schedule),
    "trigger": ("Run it now, paused or not.", "runs now", batch.trigger_schedule),
    "delete": ("Delete a schedule. Jobs that it has started go on.", "is deleted", batch.delete_schedule),
}


def _verb(verb: str) -> click.Command:
    description, done, act = _VERBS[verb]

    @click.command(verb, help=description)
    @click.argument("name")
    @with_connection
    def command(name: str, **connection: Any) -> None:
        answer = act(name, **_connection(connection))
        output.out(f"Schedule {name} {done}")
        if dict(answer).get("acceptedForLater"):
            output.err("Temporal is unavailable: it takes effect when it is available again.")

    return command


def _connection(flags: dict[str, Any]) -> dict[str, str]:
    config = config_of(flags["api_url"], flags["token_file"])
    return {"api_url": config.api_url, "token": config.token}


COMMANDS = [list_schedules, show, *map(_verb, _VERBS)]

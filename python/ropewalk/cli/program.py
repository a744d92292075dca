"""The tree of commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

import ropewalk
from ropewalk.cli import account, cluster_links, clusters, config, environments, events, job_actions, jobs, notebook, schedules
from ropewalk.cli.logs import logs
from ropewalk.cli.run import run

#: Commands that only Ropewalk's own command has, and their equivalents in Python.
_IN_PYTHON: Mapping[str, str] = {
    "cluster create": "ropewalk.Cluster() in Python starts clusters",
    "cluster scale": "Cluster.scale() in Python",
    "cluster adapt": "Cluster.adapt() in Python",
    "cluster watch": "Cluster(show_widget=True) in Python",
    "cluster exec": "",
    "batch schedule create": "ropewalk.batch.create_schedule() in Python",
    "env create": "ropewalk.create_software_environment() in Python",
    "env inspect": "ropewalk.get_software_info() in Python",
    "env logs": "`ropewalk cluster logs N --agents` shows them among the others",
    "env delete": "ropewalk.delete_software_environment() in Python",
    "cost": "ropewalk.costs() in Python",
    "budget": "ropewalk.budgets() and ropewalk.set_budget() in Python",
    "approvals": "ropewalk.approvals() in Python",
    "approve": "ropewalk.approve() in Python",
    "reject": "ropewalk.reject() in Python",
    "instance-types": "ropewalk.list_instance_types() in Python",
    "notifications": "ropewalk.get_notifications() in Python",
    "token": "",
    "user": "",
    "webhook": "",
    "workspace": "",
}
#: Commands for operators.
_OPERATORS = ("dev", "doctor", "setup", "init", "reconcile", "bill", "sweep", "prune", "destroy")


def _elsewhere(path: str) -> click.Command:
    """A command that prints where it is available."""

    def say() -> None:
        raise click.UsageError(where(path))

    say.__doc__ = where(path)
    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(path.rpartition(" ")[2], callback=say, hidden=True, help=where(path), context_settings=settings)


def where(path: str) -> str:
    own = "the command that comes with Ropewalk itself, a checkout with Node 24"
    if path in _OPERATORS:
        return f"`ropewalk {path}` is for those who run Ropewalk: use {own} (docs/operations.md)."
    instead = f"; {_IN_PYTHON[path]}" if _IN_PYTHON[path] else ""
    return f"`ropewalk {path}` is not in the Python package: use {own}{instead}."


def _group(name: str, description: str, commands: Sequence[click.Command]) -> click.Group:
    group = click.Group(name.rpartition(" ")[2], help=description)
    for command in commands:
        group.add_command(command)
    for path in _IN_PYTHON:
        if path.rpartition(" ")[0] == name:
            group.add_command(_elsewhere(path))
    return group


class _ScheduleGroup(click.Group):
    """Its options are those of `create`, whose name may be omitted."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_create = bool(args) and args[0].startswith("-") and args[0] != "--help"
        return super().parse_args(ctx, ["create", *args] if is_create else args)


def _schedule_group() -> click.Group:
    group = _group("batch schedule", "Jobs that run at the times of a cron expression.", schedules.COMMANDS)
    return _ScheduleGroup("schedule", commands=group.commands, help=group.help)


def create_program() -> click.Group:
    program = click.Group("ropewalk", help="Durable batch jobs and Dask clusters on your own VMs.")
    program = click.version_option(ropewalk.__version__, "--version", "-V", message="%(version)s")(program)
    groups = [
        _group(
            "batch",
            "Batch jobs: one command, run as many tasks on many instances.",
            [run, *jobs.COMMANDS, events.job_events, *job_actions.COMMANDS, _schedule_group()],
        ),
        _group(
            "cluster",
            "Dask clusters: a scheduler and workers that run independently of your terminal.",
            [*clusters.COMMANDS, events.cluster_events, cluster_links.dashboard, cluster_links.jupyter],
        ),
        _group("notebook", "Jupyter on an instance, with your environment, and your files in both directions.", notebook.COMMANDS),
        _group("env", "Named environments, for --software of clusters and jobs.", environments.COMMANDS),
        _group("config", "Defaults of ropewalk.Cluster, in Dask's configuration.", config.COMMANDS),
    ]
    for command in [*groups, logs, *account.COMMANDS]:
        program.add_command(command)
    for path in [*(path for path in _IN_PYTHON if " " not in path), *_OPERATORS]:
        program.add_command(_elsewhere(path))
    return program

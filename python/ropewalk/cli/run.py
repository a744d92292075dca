"""`ropewalk batch run`: submits a job, with the Python environment in which this command is installed."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ropewalk import batch
from ropewalk.batch.header import options_of_script
from ropewalk.batch.split_words import split_words
from ropewalk.cli.environment_files import (
    read_registry_auth,
    read_requirements,
    read_variables,
    says_yes,
)
from ropewalk.cli.errors import OK, as_options
from ropewalk.cli.header_paths import check_header_paths
from ropewalk.cli.jobs import detached, download_files, watch_job
from ropewalk.cli.options import config_of, connect, with_connection, with_format
from ropewalk.cli.plan import format_plan, format_price
from ropewalk.cli.run_options import with_run_options, words_of
from ropewalk.cli.session import output, until_interrupted

_HELP = """Submit a batch job. Options after the first word of COMMAND are part of COMMAND.

Words of COMMAND that name files below the current directory, of at most 1 MiB each, are sent with the job under that path. A script
that COMMAND names by an absolute path, ~/ or ../ is sent under its name; other such paths mean files of the instance. Each task runs
in its own directory, with ROPEWALK_BATCH_TASK_ID (and COILED_BATCH_TASK_ID) in its environment. Options can also be written in the
script: # ROPEWALK ntasks 10

The tasks of a Python script get the environment of the Python that has this command: its version, packages, and the modules beside
the script (--no-package-sync turns it off).

\b
  ropewalk batch run --ntasks 10 my_script.sh
  ropewalk batch run --map-over-file inputs.txt process.py \\$ROPEWALK_BATCH_TASK_INPUT
  ropewalk batch run --array 0-10:2 --wait python3 my_script.py --fast
"""

#: Options of the script's header that only this program can carry out. `batch.run` handles those of package sync.
_HEADER = (
    *("map-over-file", "env-file", "secret-env-file", "host-setup-script", "wait", "workspace"),
    *("upload", "download", "sync", "forward-aws-credentials", "scheduler-sidecar-spec"),
)
#: Options with the same name in `batch.run`.
_SAME = (
    *("name", "workspace", "array", "map_over_values", "map_over_file", "map_over_input_var", "map_over_delimiter"),
    *("scheduler_task_array", "priority", "retries", "retry_on_exit", "task_timeout", "job_timeout", "max_cost", "lease"),
    *("watchdog_timeout", "input_filestore", "output_filestore", "host_setup_script", "ntasks", "max_workers"),
    *("container", "software", "cpu", "memory", "disk_size", "provider", "region", "zone", "spot_policy"),
    *("wait_for_capacity", "allow_ssh_from", "allow_ingress_from", "scheduler_sidecar_spec", "dask_container"),
)
_FLAGS = (
    *("private_to_creator", "pipe_to_files", "get_or_create", "command_on_instance", "package_sync_strict"),
    "no_implicit_file_upload",
)
#: Flags of which the absence says nothing.
_YES_OR_NOTHING = ("wait_for_ready_cluster", "gpu", "arm", "allow_ssh")
_SYNC_LISTS = ("package_sync_ignore", "package_sync_only", "package_sync_conda_extras")
#: Arguments of `plan`, besides options about machines.
_PLANNED = frozenset({"ntasks", "array", "max_workers", "upload", "command_on_instance", "container", "software"})
_MACHINES = frozenset(
    {
        *("vm_type", "scheduler_vm_type", "cpu", "memory", "gpu", "disk_size", "provider", "region", "zone", "arm", "tag"),
        *("allow_cross_zone", "spot_policy", "use_best_zone", "wait_for_capacity", "allow_ssh"),
        *("allow_ssh_from", "allow_ingress_from", "instance_credentials"),
    }
)


@click.command("run", help=_HELP, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@with_run_options
@with_connection
@with_format
@click.pass_context
def run(context: click.Context, /, command: Sequence[str], **given: Any) -> int:
    command = _words_of(command, given["command_on_instance"])
    _note_misplaced(context, command)
    header = options_of_script(command, _HEADER)
    flags = _with_header(given, header)
    config = config_of(flags["api_url"], flags["token_file"])
    connection: dict[str, Any] = {"api_url": config.api_url, "token": config.token}
    # Options are read and checked together, because errors of `batch.run` name its arguments.
    try:
        arguments = _arguments(flags)
        if flags["plan"]:
            kept = {name: value for name, value in arguments.items() if name in _PLANNED | _MACHINES}
            return _show_plan(batch.plan(list(command), **kept, **connection), flags)
        _find_modules_of(command)
        with until_interrupted(lambda: "Interrupted. The job may have been submitted: see ropewalk batch list"):
            created = batch.run(
                list(command), **arguments, **connection, logger=_logger(), _carried_out=[*header], **_credentials(flags)
            )
    except (TypeError, ValueError, OSError) as error:
        raise click.UsageError(as_options(str(error))) from error
    return _after(created, flags)


def _after(created: Mapping[str, Any], flags: Mapping[str, Any]) -> int:
    number = created["number"]
    text = f"Job {number} ({created['name']}) {'exists already' if created['existing'] else 'submitted'}"
    connection = {name: flags[name] for name in ("api_url", "token_file", "workspace")}
    if flags["wait"]:
        output.err(text)
        with until_interrupted(lambda: detached(number)):
            code = watch_job(connect(**connection), number, flags["output_format"])
            into = flags["download"] or flags["sync"]
            if into is not None:
                download_files(connection, number, into)
            return code
    if flags["output_format"] == "json":
        output.json({name: value for name, value in created.items() if name not in ("job_id", "cluster_id")})
    else:
        output.out(text)
    if "pricePerHour" in created:
        output.err(f"Price:       {format_price(created['pricePerHour'])}")
    output.err(f"Wait for it: ropewalk batch wait {number}\nIts output:  ropewalk batch logs {number} --follow")
    return OK


def _show_plan(plan: Mapping[str, Any], flags: Mapping[str, Any]) -> int:
    for warning in plan.get("warnings", []):
        output.err(f"warning: {warning}")
    if flags["output_format"] == "json":
        output.json(plan)
    else:
        output.out(format_plan(plan))
    return OK


def _with_header(given: Mapping[str, Any], header: Mapping[str, list[str]]) -> dict[str, Any]:
    """The command line overrides the header; repeatable options accumulate."""
    flags = dict(given)
    own = [str(path) for name in ("upload", "env_file", "secret_env_file") for path in given[name]]

    def last(name: str) -> str | None:
        return header[name][-1] if name in header else None

    def is_set(name: str) -> bool:
        return name in header and header[name][-1].lower() not in ("false", "0")

    for name in ("download", "sync", "workspace", "host-setup-script", "scheduler-sidecar-spec"):
        key = name.replace("-", "_")
        flags[key] = flags[key] if flags[key] is not None else last(name)
    if all(flags[name] is None for name in ("ntasks", "array", "map_over_values", "map_over_file")):
        flags["map_over_file"] = last("map-over-file")
    for name in ("env-file", "secret-env-file", "upload"):
        key = name.replace("-", "_")
        flags[key] = [*header.get(name, []), *flags[key]]
    named = ("download", "sync", "host-setup-script", "scheduler-sidecar-spec")
    used = [name for name in named if given[name.replace("-", "_")] is None]
    used += ["map-over-file"] if given["map_over_file"] is None and flags["map_over_file"] is not None else []
    asked = {name: header[name][-1:] for name in used if name in header}
    asked |= {name: header[name] for name in ("upload", "env-file", "secret-env-file") if name in header}
    check_header_paths(asked, own)
    if flags["sync"] is not None:
        flags["upload"].append(flags["sync"])
    flags["wait"] = flags["wait"] or (is_set("wait") and not flags["plan"])
    flags["forward_aws_credentials"] = flags["forward_aws_credentials"] or is_set("forward-aws-credentials")
    if flags["plan"] and flags["wait"]:
        raise click.UsageError("--plan and --wait exclude each other")
    return flags


def _arguments(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `batch.run`."""
    found = {name: flags[name] for name in _SAME if flags[name] is not None}
    found |= {name: True for name in (*_FLAGS, *_YES_OR_NOTHING) if flags[name]}
    found |= {name: [*flags[name]] for name in ("upload", "tag") if flags[name]}
    found |= {name: [one for text in flags[name] for one in words_of(text)] for name in _SYNC_LISTS if flags[name]}
    for name in ("vm_type", "scheduler_vm_type"):
        if flags[name]:
            found[name] = [one for text in flags[name] for one in words_of(text)]
    for name in ("after", "after_ok"):
        if flags[name]:
            found[name] = [number for numbers in flags[name] for number in numbers]
    for name, yes, no in (
        ("task_on_scheduler", flags["task_on_scheduler"], flags["no_task_on_scheduler"]),
        ("allow_cross_zone", flags["allow_cross_zone"], flags["no_cross_zone"]),
        ("instance_credentials", flags["instance_credentials"], flags["no_instance_credentials"]),
        ("package_sync", _asks_for_sync(flags), flags["no_package_sync"]),
    ):
        if yes and no:
            raise click.UsageError(f"--{name.replace('_', '-')} and its opposite exclude each other")
        if yes or no:
            found[name] = bool(yes)
    if flags["no_best_zone"]:
        found["use_best_zone"] = False
    if flags["package_sync_fail_on"] is not None:
        found["package_sync_fail_on"] = flags["package_sync_fail_on"]
    if flags["download"] is not None or flags["sync"] is not None:
        found["store_files"] = True
    for name in ("run_on_host", "ignore_container_entrypoint"):
        if flags[name] is not None and says_yes(f"--{name.replace('_', '-')}", flags[name]):
            found[name] = True
    if flags["registry_auth"] is not None:
        found["registry_auth"] = read_registry_auth(flags["registry_auth"])
    return {**found, **_environment(flags)}


def _asks_for_sync(flags: Mapping[str, Any]) -> bool:
    """An option of package sync turns it on, also for commands other than Python scripts."""
    others = ("package_sync_strict", "package_sync_fail_on", *(name for name in _SYNC_LISTS if name != "package_sync_only"))
    # A list of the only packages makes the argument `package_sync` redundant.
    if flags["package_sync_only"]:
        return False
    return bool(flags["package_sync"] or any(flags[name] for name in others))


def _environment(flags: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "env": read_variables("--env", flags["env"], flags["env_file"]),
        "secret_env": read_variables("--secret-env", flags["secret_env"], flags["secret_env_file"]),
    }
    files = [line for path in flags["requirements_file"] for line in read_requirements(path)]
    requirements = [*files, *flags["requirement"]]
    if requirements or flags["requirements_file"]:
        found["requirements"] = requirements
    python = flags["python"]
    if python is not None and "/" in python:
        raise click.UsageError(
            f"--python: the tasks get the environment of {sys.executable}, which has this command. "
            f"For another one, install ropewalk there: {python} -m pip install ropewalk"
        )
    if python is not None:
        found["python"] = python
    return found


def _credentials(flags: Mapping[str, Any]) -> dict[str, Any]:
    return {"forward_aws_credentials": True} if flags["forward_aws_credentials"] else {}


def _find_modules_of(command: Sequence[str]) -> None:
    """Package sync takes modules from this process's path. As for `python script.py`, it includes those beside the
    script; they are last here, so that none replaces a module of this program."""
    script = next((Path(os.path.expanduser(word)) for word in command if word.endswith(".py")), None)
    sys.path.append(os.getcwd() if script is None else str(script.resolve().parent))


def _words_of(command: Sequence[str], on_instance: bool) -> Sequence[str]:
    """One word with blanks is a command line, unless it is the name of a file."""
    if len(command) > 1 or on_instance or not re.search(r"\s", command[0]) or os.path.isfile(command[0]):
        return command
    return split_words(command[0]) or command


def _note_misplaced(context: click.Context, command: Sequence[str]) -> None:
    """Short options, such as -e, are common in commands."""
    known = {name for parameter in context.command.params for name in parameter.opts if name.startswith("--")}
    found = dict.fromkeys(name for word in command[1:] if (name := word.partition("=")[0]) in known)
    if found:
        belong = "belongs" if len(found) == 1 else "belong"
        output.err(
            f"note: {', '.join(found)} after the script {belong} to the script; options of ropewalk come before it"
        )


def _logger() -> logging.Logger:
    """The messages of `batch.run`: its warnings, and the progress of package sync."""
    logger = logging.Logger("ropewalk.cli", logging.INFO)
    logger.addHandler(_ToOutput())
    return logger


class _ToOutput(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        text = as_options(record.getMessage())
        output.err(f"warning: {text}" if record.levelno >= logging.WARNING else text)

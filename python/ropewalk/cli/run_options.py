"""The options of `ropewalk batch run`, and the parsing of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from ropewalk.cli.options import COUNT, F, Parsed, flag, option, together


def _dollars(text: str) -> float:
    if re.fullmatch(r"\$?\d{1,7}(\.\d{1,6})?", text) is None or float(text.replace("$", "")) == 0:
        raise ValueError
    return float(text.replace("$", ""))


def _jobs(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[1-9]\d{0,11}", part) for part in parts):
        raise ValueError
    return [int(part) for part in parts]


def words_of(text: str) -> list[str]:
    """Accepts `[2, 8]` and `2,8`."""
    inside = re.sub(r"^\[(.*)\]$", r"\1", text)
    words = [re.sub(r"""^(["'])(.*)\1$""", r"\2", word.strip()) for word in inside.split(",")]
    return [word for word in words if word]


_RANGE = "Give one value, or the two ends of a range with a comma between them."


def _ends_of(text: str) -> list[str]:
    """`2-8` and `8GB-32GB` are Coiled's spelling of a range."""
    ends = re.fullmatch(r"\s*(\d[^,-]*)-\s*(\d[^,-]*)", text)
    return words_of(text) if ends is None else [ends[1].strip(), ends[2].strip()]


def _memory(text: str) -> str | list[str]:
    words = _ends_of(text)
    if len(words) not in (1, 2):
        raise ValueError(_RANGE)
    return words[0] if len(words) == 1 else words


def _cpu(text: str) -> int | list[int]:
    words = _ends_of(text)
    if len(words) not in (1, 2):
        raise ValueError(_RANGE)
    if not all(re.fullmatch(r"\d{1,4}", word) for word in words):
        raise ValueError
    return int(words[0]) if len(words) == 1 else [int(word) for word in words]


def _tag(text: str) -> str:
    if text.find("=") < 1:
        raise ValueError
    return text


DOLLARS = Parsed(_dollars, "Give an amount of US dollars, for example 12.50.")
JOBS = Parsed(_jobs, "Give numbers of jobs, for example 12 or 12,13.")
CPU = Parsed(_cpu, "Give a whole number, for example 4, or a range: 2,8.")
MEMORY = Parsed(_memory, _RANGE)
TAG = Parsed(_tag, "Write it as key=value.")

# Common help texts about instances of `batch run` and `notebook start`.
INSTANCES: list[Any] = [
    option("--cpu", metavar="N", type=CPU, help="vCPUs of each instance, or a range: 2,8"),
    option("--memory", metavar="SIZE", type=MEMORY, help='memory of each instance, within 10 percent, or a range: "8 GiB,32 GiB"'),
    flag("--gpu", help="instances with a GPU"),
    option("--disk-size", metavar="SIZE", help='disk of each instance, e.g. "100 GiB"; a number alone means GiB'),
    option("--provider", metavar="NAME", help="provider to run on, e.g. aws (default: the preferred one of the control plane)"),
    option("--region", metavar="REGION", help="region of the cloud, e.g. us-west-2 (default: that of the configuration)"),
    option("--zone", metavar="ZONE", help="zone of the region, e.g. us-east-1b (default: the one with the best availability)"),
]

_OPTIONS: list[Any] = [
    option("--ntasks", "--n-tasks", metavar="N", type=COUNT, help="number of tasks, with ids 0 to n-1 (also --n-tasks)"),
    option("--array", metavar="IDS", help="ids of the tasks, e.g. 2,4-6,8-10 or 0-10:2; 0-99%10 runs at most ten at a time"),
    option("-N", "--max-workers", metavar="N", type=COUNT, help="maximum number of instances; -1 means no limit"),
    flag("--task-on-scheduler", help="the head instance runs the task of the lowest id, and no other"),
    flag("--no-task-on-scheduler", help="the head instance runs no task"),
    option("--scheduler-task-array", metavar="IDS", help="the head instance runs these tasks, and no others"),
    flag("--wait-for-ready-cluster", help="start no task before all instances are ready; end the job if one is unavailable"),
    option("-e", "--env", metavar="KEY=val", multiple=True, help="environment variable of tasks (repeatable); KEY alone takes the value from your environment"),
    option("--secret-env", metavar="KEY=val", multiple=True, help="like --env, for secrets: stored encrypted until the job has ended (repeatable)"),
    option("--env-file", metavar="PATH", multiple=True, help="file of environment variables in .env format (repeatable)"),
    option("--secret-env-file", metavar="PATH", multiple=True, help="like --env-file, for secrets (repeatable)"),
    flag("--forward-aws-credentials", help="give tasks a session of your AWS credentials; it is not renewed when it expires"),
    option("--name", metavar="NAME", help="name of the job"),
    flag("--get-or-create", help="return the open job of that name, if there is one"),
    option("--after", metavar="JOBS", type=JOBS, multiple=True, help="start after these jobs have ended, e.g. 12,13 (repeatable)"),
    option("--after-ok", metavar="JOBS", type=JOBS, multiple=True, help="start after these jobs have succeeded; be cancelled if one of them does not"),
    option("--priority", metavar="N", type=COUNT, help="wait for room in the quota; of waiting jobs the highest number starts first"),
    option("--retries", "--max-retries", metavar="N", type=COUNT, help="number of retries of a failed task (also --max-retries)"),
    option("--retry-on-exit", metavar="RULES", help="retry only these exit codes, ranges, or signal: 75,100-120,signal"),
    option("--task-timeout", metavar="DURATION", help="end a task that runs longer: TERM, 10 s later KILL; exit code 124"),
    option("--job-timeout", metavar="DURATION", help='end the job this long after its start, e.g. "1 hour"'),
    option("--max-cost", metavar="DOLLARS", type=DOLLARS, help="end the job when its instances have cost this much, in US dollars"),
    option("--lease", metavar="DURATION", help='check an instance that has not reported for this long, e.g. "2 minutes"'),
    option("--watchdog-timeout", metavar="DURATION", help="an instance ends itself after this long without an answer from the API (default: 30 minutes)"),
    flag("--private-to-creator", help="hide the output of tasks from other users"),
    option("--upload", metavar="PATH", multiple=True, help="file, or directory whose content is put into the tasks' working directory (repeatable)"),
    flag("--no-implicit-file-upload", help="do not send the files that scripts of COMMAND name in their lines"),
    option("--scheduler-sidecar-spec", metavar="PATH", help="file (.yaml or .json) of containers that run on the head instance until the job has ended"),
    option("--run-on-host", metavar="YES", help="true: on the instance itself, also where the script names a container"),
    option("--download", metavar="DIRECTORY", help="keep the files that tasks leave; with --wait, download them into this directory"),
    option("--sync", metavar="DIRECTORY", help="--upload and --download of the same directory"),
    flag("--pipe-to-files", help="also store the output of tasks as files: task-ID.out and task-ID.err"),
    option("--input-filestore", metavar="NAME", help="give tasks the files of this filestore, to which --upload adds"),
    option("--output-filestore", metavar="NAME", help="keep the files that tasks leave in this filestore"),
    flag("--command-on-instance", help="COMMAND begins with the path of a file that only the instances have"),
    flag("--plan", help="print the planned instances and their price; launch nothing"),
    flag("--wait", help="wait until the job has ended; exit code 1 unless every task is done"),
    option("--map-over-values", metavar="VALUES", help="one task for each value: first,second,third"),
    option("--map-over-file", metavar="PATH", help="one task for each line of a file"),
    option("--map-over-input-var", metavar="NAME", help="variable for the value, beside ROPEWALK_BATCH_TASK_INPUT and COILED_BATCH_TASK_INPUT"),
    option("--map-over-delimiter", metavar="TEXT", help='what separates values (default: "," and, in files, a new line)'),
    option("--container", metavar="IMAGE", help="image of a container for the tasks, e.g. ubuntu:24.04; instances need podman or docker"),
    option("--ignore-container-entrypoint", metavar="YES", help="true: without the entrypoint of the image"),
    option("--host-setup-script", metavar="PATH", help="script that each instance runs once, before anything else"),
    option("--registry-auth", metavar="PATH", help="file with credentials of the image's registry, as Docker's config.json"),
    flag("--package-sync", help="give the tasks the environment of this Python (default for a Python script)"),
    flag("--no-package-sync", help="tasks have the programs of the instance"),
    option("--package-sync-ignore", metavar="NAMES", multiple=True, help="packages and modules to leave out (repeatable)"),
    option("--package-sync-only", metavar="NAMES", multiple=True, help="the only packages and modules to send (repeatable)"),
    flag("--package-sync-strict", help="nothing may be left out"),
    option("--package-sync-fail-on", type=click.Choice(["critical-only", "warning-or-higher", "any"]), help="what may not be left out"),
    option("--package-sync-conda-extras", metavar="NAMES", multiple=True, help="packages on conda-forge that are not here (repeatable)"),
    option("--dask-container", metavar="VALUE", hidden=True),
    option("--software", metavar="NAME", help="named environment (ropewalk env list)"),
    option("--requirement", metavar="SPEC", multiple=True, help="package of the tasks' Python environment, e.g. pandas==2.3.1 (repeatable)"),
    option("--requirements-file", metavar="PATH", multiple=True, help="file with one requirement per line (repeatable)"),
    option("--python", metavar="VERSION", help="version of Python of the tasks' Python environment, e.g. 3.12"),
    option("--vm-type", metavar="TYPES", multiple=True, help="acceptable instance type (repeatable, or a,b)"),
    option("--scheduler-vm-type", metavar="TYPES", multiple=True, help="acceptable instance type of the head instance (repeatable, or a,b)"),
    *INSTANCES,
    flag("--allow-cross-zone", help="allow instances in different zones"),
    flag("--no-cross-zone", help="keep all instances in one zone"),
    flag("--arm", help="use ARM processors"),
    option("--spot-policy", type=click.Choice(["on-demand", "spot", "spot_with_fallback"]), help="market of the workers; the head instance is always on-demand"),
    flag("--no-best-zone", help="use the first zone of the configuration rather than the one with the best availability"),
    option("-t", "--tag", metavar="KEY=VALUE", type=TAG, multiple=True, help="tag of the instances in the cloud account (repeatable)"),
    option("--wait-for-capacity", metavar="DURATION", help="retry for this long while the cloud has no capacity, e.g. 6h"),
    flag("--allow-ssh", help="open port 22 of the head instance"),
    option("--allow-ssh-from", metavar="SOURCES", help="open port 22 to addresses, ranges such as 203.0.113.0/24, me, or everyone (a,b)"),
    option("--allow-ingress-from", metavar="SOURCES", help="open the Dask scheduler to addresses, ranges, me, or everyone (a,b)"),
    flag("--instance-credentials", help="let tasks use the role or service account of their instance"),
    flag("--no-instance-credentials", help="keep tasks from the metadata service of their instance"),
]


def with_run_options(function: F) -> F:
    decorate: Callable[[F], F] = together(_OPTIONS)
    return decorate(function)

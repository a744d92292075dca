"""Submits a job. The server reads the script's header; this module only sends words and files."""

from __future__ import annotations

import logging
import uuid
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from ropewalk.batch.aws import with_aws_session
from ropewalk.batch.buffers import Buffer, buffer_files
from ropewalk.batch.header import SyncHeader, delimiter_in
from ropewalk.batch.input_list import NOTE, list_of, upload_list
from ropewalk.batch.inputs import argument_of, in_arguments, Value, read_inputs
from ropewalk.batch.paths import connect
from ropewalk.batch.request import Option, StrPath, check_path, is_python, numbers_of, paths_of, programs_of, request_body
from ropewalk.batch.scripts import script_file
from ropewalk.batch.sidecars import read_sidecars
from ropewalk.batch.storage import upload_files
from ropewalk.batch.variables import Variables, read_variables
from ropewalk.batch.views import CreatedJob
from ropewalk.containers import registry_credentials, setup_script
from ropewalk.durations import Duration, seconds_of
from ropewalk.package_sync.options import FailOn, read_options
from ropewalk.software import make_software

_logger = logging.getLogger("ropewalk")


def run(
    command: str | Sequence[str],
    *,
    name: str | None = None,
    workspace: str | None = None,
    cluster_kwargs: Mapping[str, Any] | None = None,
    logger: logging.Logger | None = None,
    get_or_create: bool = False,
    env: Variables | None = None,
    secret_env: Variables | None = None,
    forward_aws_credentials: bool | None = None,
    ntasks: int | None = None,
    array: str | None = None,
    map_over_values: str | Sequence[Value] | None = None,
    map_over_file: StrPath | None = None,
    map_over_input_var: str | None = None,
    map_over_task_var_dicts: Sequence[Mapping[str, Value]] | None = None,
    map_over_delimiter: str | None = None,
    max_workers: int | None = None,
    task_on_scheduler: bool | None = None,
    scheduler_task_array: str | None = None,
    scheduler_sidecar_spec: StrPath | None = None,
    scheduler_sidecars: Sequence[Mapping[str, Any]] | None = None,
    wait_for_ready_cluster: bool | None = None,
    after: int | Sequence[int] | None = None,
    after_ok: int | Sequence[int] | None = None,
    priority: int | None = None,
    retries: int | None = None,
    max_retries: int | None = None,
    retry_on_exit: str | None = None,
    task_timeout: Duration | None = None,
    job_timeout: Duration | None = None,
    max_cost: float | None = None,
    lease: Duration | None = None,
    watchdog_timeout: Duration | None = None,
    private_to_creator: bool = False,
    upload: StrPath | Sequence[StrPath] | None = None,
    local_upload_path: StrPath | None = None,
    buffers_to_upload: Sequence[Buffer] | None = None,
    no_implicit_file_upload: bool = False,
    store_files: bool = False,
    pipe_to_files: bool = False,
    input_filestore: str | None = None,
    output_filestore: str | None = None,
    requirements: Sequence[str] | None = None,
    python: str | None = None,
    registry_auth: Mapping[str, tuple[str, str]] | None = None,
    host_setup_script: StrPath | None = None,
    host_setup_script_content: str | None = None,
    command_as_script: bool | None = None,
    command_on_instance: bool = False,
    package_sync: bool | Collection[str] | None = None,
    package_sync_ignore: Collection[str] | None = None,
    package_sync_only: Collection[str] | None = None,
    package_sync_strict: bool = False,
    package_sync_fail_on: FailOn = "critical-only",
    package_sync_conda_extras: Collection[str] | None = None,
    idempotency_key: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
    _carried_out: Sequence[str] = (),
    **options: Option,
) -> CreatedJob:
    """Submits a batch job and returns; `wait` returns when it has ended.

    Parameters
    ----------
    command: command line of each task, as a string that is split like a shell's, or as words. It is not run in a shell; `$NAME`
        in a word is replaced from the task's environment. Files below the current directory that words name are sent with the
        job, and so are scripts that words name by an absolute path, `~/` or `../`.
    name, get_or_create: name of the job; with `get_or_create` an open job of that name is returned instead of an error.
    workspace: the workspace of the token; an error when it is of another one.
    cluster_kwargs: further options about machines by their names here, as a dictionary.
    logger: gets what would otherwise be a Python warning, and the progress of package sync.
    env, secret_env: environment variables of the tasks, as a dictionary or as texts like "MODE=fast"; secrets are stored encrypted
        until the job has ended.
    forward_aws_credentials: the tasks get an STS session of this machine's AWS credentials, as `secret_env`. It is not renewed: a
        task that runs longer than the session loses it.
    ntasks, array: number of tasks, or their ids: "2,4-6,8-10" or "0-10:2"; "0-99%10" runs at most ten at a time.
    map_over_values, map_over_file: one task for each value of a list or of a text with commas, or for each line of
        a file. A task finds its value in COILED_BATCH_TASK_INPUT and ROPEWALK_BATCH_TASK_INPUT, and in
        `map_over_input_var` when that is given. `map_over_delimiter` replaces the separator of the values of a text
        or file.
    map_over_task_var_dicts: one task for each dictionary of environment variables: [{"A": 1, "B": 2}, {"A": 3, "B": 4}].
    max_workers: maximum of instances; -1 means no limit.
    task_on_scheduler, scheduler_task_array: the head instance runs the task of the lowest id, or those of an array like "0,3-5",
        and no others; with False it runs none. By default it runs tasks like the other instances.
    scheduler_sidecar_spec, scheduler_sidecars: a file of YAML or JSON, or dictionaries, of containers that run on the head instance
        until the job has ended: [{"name": "cache", "image": "redis:8", "command": "redis-server --port 6400"}].
    wait_for_ready_cluster: no task starts before all instances are ready; the job ends if one of them is unavailable.
    after, after_ok: numbers of jobs: the job starts after they have ended, or after they have succeeded; it is cancelled when one
        of `after_ok` does not succeed.
    priority: from -100 to 100. The job waits for room in the quota; of the jobs that wait, the one of the highest number starts first.
    retries, max_retries: number of retries of a failed task; with `retry_on_exit` only for these exit codes: "75,100-120,signal".
    task_timeout: a task that runs longer gets TERM, 10 s later KILL, and has failed with exit code 124.
    job_timeout: the job ends this long after its start: "1 hour", 3600, or a timedelta, as all durations here.
    max_cost: the job ends when its instances have cost this much, in US dollars.
    lease: an instance that has not reported for this long is checked.
    watchdog_timeout: an instance ends itself when the API has not answered it for this long; 30 minutes by default.
    private_to_creator: hides the output of tasks from other users.
    upload: files, or directories for their content, that are copied into the tasks' working directory.
    local_upload_path: another name of `upload`, as in Coiled.
    buffers_to_upload: files from memory: [{"relative_path": "hello.txt", "buffer": io.BytesIO(b"hello")}].
    no_implicit_file_upload: files that scripts of the command name in their lines are not sent.
    store_files: keeps the files that tasks create or change in their working directory; `download` gets them.
    pipe_to_files: also keeps the tasks' output as files: task-ID.out and task-ID.err.
    input_filestore, output_filestore: names of filestores: tasks read the files of the first, to which `upload`
        adds, and their output files are added to the second.
    requirements, python: packages of the tasks' Python environment, as for pip, and its version of Python, as in "3.12", instead of
        package sync.
    package_sync: the tasks get the Python environment of this process, as the workers of a `Cluster` do, and its `python` is the
        first on their PATH. On when the command is a Python script, or begins with python, and `requirements` is not given. Without
        it tasks have the programs of the instance. The other options are those of `Cluster`; the script's header can have them too.
    idempotency_key: the same key with the same job creates one job only; by default each call has a new key.
    api_url, token: by default ROPEWALK_API_URL and ROPEWALK_TOKEN, then config.yaml in ROPEWALK_HOME (~/.ropewalk).
    host_setup_script, host_setup_script_content: a script, or its text, that each instance runs once before its first task.
    command_as_script: the command is the text of a script, as it would be in a file: with its `#!` line, else run by bash. Options
        in its header count. A text that begins with `#!` is one by itself.
    command_on_instance: the command begins with the path of a file that only the instances have. Otherwise a path that does not
        exist here is an error.
    software: name of an environment from `create_software_environment`, instead of package sync.
    container, ignore_container_entrypoint: the tasks run in a container of this image, instead of package sync; podman or docker
        runs it. `run_on_host` runs them on the instance itself, also when the script's header names a container.
    registry_auth: user and password of registries, for the pull of the image: {"ghcr.io": ("ada", "...")}.
    options: machines, when the server has a cloud provider: vm_type (or several, preferred ones first), scheduler_vm_type,
        cpu (4 or [2, 8]), memory ("16 GiB" or ["8 GiB", "32 GiB"]), gpu, arm, disk_size (in GiB), spot_policy ("on-demand",
        "spot" or "spot_with_fallback"), provider, region, zone, allow_cross_zone, wait_for_capacity ("6h"), allow_ssh,
        allow_ssh_from, allow_ingress_from, instance_credentials (True: tasks can use the role or service account of their
        instance). `plan` returns the price. Other options of `coiled.batch.run` are sent by name: the
        server warns about those without effect, and refuses those that would change the result.

    Examples
    --------
    >>> job = ropewalk.batch.run("python my_script.py", ntasks=10, job_timeout="1 hour")
    >>> ropewalk.batch.wait(job["number"])["status"]
    'done'
    """
    variables, secrets = read_variables(env, "env"), read_variables(secret_env, "secret_env")
    is_script = bool(command_as_script) or (isinstance(command, str) and command.startswith("#!"))
    given: dict[str, Any] = {**(cluster_kwargs or {}), **options}
    fields: dict[str, Any] = {
        "name": name,
        "getOrCreate": get_or_create or None,
        "env": variables or None,
        "secretEnv": secrets or None,
        "ntasks": ntasks,
        "array": array,
        "mapOver": read_inputs(
            map_over_values, map_over_file, map_over_input_var, map_over_task_var_dicts, map_over_delimiter
        ),
        "maxWorkers": max_workers,
        "taskOnScheduler": task_on_scheduler,
        "schedulerTaskArray": scheduler_task_array,
        "schedulerSidecars": read_sidecars(scheduler_sidecar_spec, scheduler_sidecars or given.pop("scheduler_sidecars", None)),
        "waitForReadyCluster": wait_for_ready_cluster,
        "after": numbers_of(after),
        "afterOk": numbers_of(after_ok),
        "priority": priority,
        "retries": max_retries if retries is None else retries,
        "retryOnExit": retry_on_exit,
        "taskTimeout": None if task_timeout is None else seconds_of(task_timeout, "task_timeout"),
        "jobTimeout": None if job_timeout is None else seconds_of(job_timeout, "job_timeout"),
        "maxCost": max_cost,
        "lease": None if lease is None else seconds_of(lease, "lease"),
        "watchdogTimeout": None if watchdog_timeout is None else seconds_of(watchdog_timeout, "watchdog_timeout"),
        "privateToCreator": private_to_creator or None,
        "registryAuth": registry_credentials(registry_auth),
        "hostSetupScript": setup_script(host_setup_script, host_setup_script_content),
    }
    fields |= {
        "storeFiles": store_files or None,
        "pipeToFiles": pipe_to_files or None,
        "inputFilestore": input_filestore,
        "outputFilestore": output_filestore,
    }
    # A version alone means an environment without packages.
    wanted = [] if requirements is None and python is not None else requirements
    api = connect(api_url, token, workspace)
    with buffer_files(buffers_to_upload) as buffered:
        uploads = [*paths_of(upload), *paths_of(local_upload_path), *buffered]
        how = {"store_all": input_filestore is not None, "search_scripts": not no_implicit_file_upload}
        if is_script:
            with script_file(command) as path:
                sent, stored, notes = request_body([str(path)], uploads, fields, given, **how)
        else:
            sent, stored, notes = request_body(command, uploads, fields, given, **how)
            if not command_on_instance:
                check_path(command, sent, stored, {**given, "requirements": requirements})
        input_files = upload_files(api, stored) if stored else []
    if input_files and input_filestore is not None:
        api.request("POST", f"/v1/filestores/{input_filestore}/files", {"files": input_files})
    elif input_files:
        sent["inputFiles"] = input_files
    mapped = sent.get("mapOver")
    argument = argument_of(mapped or {})
    lines = list_of(mapped, argument, lambda: delimiter_in(sent["command"], sent.get("files", [])))
    if lines is not None:
        var = {} if map_over_input_var is None else {"inputVar": map_over_input_var}
        sent["mapOver"] = {"list": upload_list(api, lines, argument), **var}
        notes.append(f"{argument}: {NOTE}")
    header = SyncHeader(sent["command"], sent.get("files", []))
    is_chosen = header.runtime or any(given.get(name) for name in ("container", "run_on_host", "software"))
    sync = read_options(
        False if package_sync is None and header.flag("no-package-sync") else package_sync,
        header.more("package-sync-ignore", package_sync_ignore),
        header.more("package-sync-only", package_sync_only),
        package_sync_strict or header.flag("package-sync-strict"),
        header.fail_on(package_sync_fail_on),
        header.more("package-sync-conda-extras", package_sync_conda_extras),
        requirements=wanted,
        default=is_python(sent["command"]) and not is_chosen,
    )
    # Options of the header that the caller has carried out, which the server ignores.
    if carried := [*header.names, *_carried_out]:
        sent["clientOptions"] = carried
    if sync is not None:
        say = (logger or _logger).info
        sent["software"] = make_software(api, sync, say, warn=notes.append, programs=programs_of(command, is_script))
    elif wanted is not None:
        sent["software"] = {"requirements": list(wanted), **({} if python is None else {"python": python})}
    if forward_aws_credentials:
        # Last, because its life begins.
        sent["secretEnv"], until = with_aws_session(variables, secrets)
        notes.append(until)
    key = idempotency_key or str(uuid.uuid4())
    with in_arguments(mapped):
        created = cast(CreatedJob, api.request("POST", "/v1/jobs", sent, idempotency_key=key))
    for text in [*notes, *created["warnings"]]:
        if logger is None:
            warnings.warn(text, stacklevel=2)
        else:
            logger.warning(text)
    return {**created, "job_id": created["number"], "cluster_id": created["number"]}

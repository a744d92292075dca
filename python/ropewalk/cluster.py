"""A Dask cluster that Ropewalk runs, as a `distributed` cluster. The server manages the cluster; this object sends
requests."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ropewalk.all_problems import read_all
from ropewalk.amounts import check_wait, worker_count
from ropewalk.client_api import ClientApi
from ropewalk.cluster_use import ClusterUse
from ropewalk.cluster_waits import DEFAULT_TIMEOUT_S
from ropewalk.config import load_config
from ropewalk.containers import registry_credentials, setup_script
from ropewalk.credentials import is_own_choice, wants_credentials
from ropewalk.dask_config import config_variables
from ropewalk.defaults import configurable
from ropewalk.durations import Duration, seconds_of
from ropewalk.log_records import log_to_stderr
from ropewalk.machines import CLUSTER_MACHINE_TYPES, CLUSTER_MACHINES, ClusterMachines, cluster_fields, refuse_unknown
from ropewalk.other_arguments import OTHER_ARGUMENTS, OtherArguments, own_machines, own_value, refuse_others, thread_variables
from ropewalk.panel import ClusterWidget, choose_widget
from ropewalk.package_sync.options import FailOn, read_options
from ropewalk.private_envs import check_envs
from ropewalk.remote import Remote
from ropewalk.software import make_software
from ropewalk.versions import matching_requirements
from ropewalk.waiting import DEFAULT_AMOUNT, WorkerAmount
from ropewalk.workspaces import workspace_name

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Cluster(ClusterUse):
    """Starts a Dask cluster, or connects to the open cluster of that name, and waits for its first workers.

    Parameters
    ----------
    name: name of the cluster; an open cluster of this name is used instead of a new one.
    n_workers: number of workers besides the scheduler, or a range like [4, 20], the default, in which it follows the load.
    requirements: packages of the cluster's Python environment, as for pip, instead of package sync; dask and distributed have the
        versions that run here.
    software: name of an environment that `create_software_environment` has made, instead of package sync.
    container: scheduler and workers run in containers of this image, which must have dask and distributed, instead of package
        sync. Instances run it with podman or docker. `ignore_container_entrypoint` leaves the entrypoint of the image out.
    registry_auth: user and password of registries, for the pull of the image: {"ghcr.io": ("ada", "...")}.
    host_setup_script: path of a script that each instance runs once, before anything else.
    package_sync: the cluster gets the Python environment of this process: Python version, packages, projects that are installed
        from a directory or from git, and the modules beside the program. On unless `requirements` is given. A list of names takes
        these packages only; False takes none.
    package_sync_ignore, package_sync_only: names of packages and modules.
    package_sync_strict, package_sync_fail_on: nothing may be left out, or nothing of this level: "critical-only",
        "warning-or-higher" or "any". Otherwise the start fails.
    package_sync_conda_extras: names of packages on conda-forge that are not here: those that a package index has are installed.
    worker_class, worker_options, scheduler_class, scheduler_options: as for `dask spec`.
    environ: environment variables of scheduler and workers. For secrets see `send_private_envs`.
    idle_timeout: the server ends the cluster after this long without computation.
    max_lifetime: the server ends the cluster this long after its start, also while it computes.
    max_cost: the server ends the cluster when it has cost this much, in US dollars.
    unresponsive_timeout: the server ends the cluster when its scheduler has not answered for this long; 20 minutes by default.
    wait_for_workers: True waits for all workers, False for none, 3 for three, 0.5 for half of them; 0.3 by default.
    shutdown_on_close: whether `close` ends the cluster; by default unless the cluster existed before.
    keepalive: the server ends the cluster after this long without a client.
    extra_worker_on_scheduler: the scheduler's instance runs a worker too, in addition to n_workers; no scaling removes it.
    _n_worker_specs_per_host: Dask workers of each worker instance, which share its threads and memory; n_workers counts instances.
    private_to_creator: forbids other users of the workspace to connect.
    usage: what the scheduler counts for `ropewalk cluster get` and the API: tasks and seconds by function name ("groups"), types
        of exceptions, memory of the workers. All by default; [] turns it off. Keys, data, messages and code are never sent.
    jupyter: a Jupyter server beside the scheduler, which `jupyter_link` opens in a browser. The cluster's environment must have
        jupyterlab: with package sync, that of this process.
    watchdog_timeout: an instance ends itself when the API has not answered it for this long; 30 minutes by default.
    asynchronous: for use with `async with` and `await`.
    timeout: limit for the start; 10 minutes by default, plus wait_for_capacity. When it expires, the cluster is shut down and
        ClusterTimeoutError, a TimeoutError, is raised.
    api_url, token: by default ROPEWALK_API_URL and ROPEWALK_TOKEN, then `ropewalk` in Dask's configuration, then config.yaml in
        ROPEWALK_HOME (~/.ropewalk).
    show_widget: a live panel while the cluster starts, in notebooks and, if rich is installed, in IPython; the widget in
        notebooks afterwards. False shows lines of text instead.
    custom_widget: True shows the panel outside of IPython too, drawn by rich (`pip install 'ropewalk[widget]'`). Or an object with
        `update(view)`, which gets the cluster as the API shows it each time that it was read during the start, and `stop()`.
    quiet: no progress on stderr.
    credentials: "local" sends an STS session of this machine's AWS credentials directly to scheduler and workers, when botocore is
        installed and finds some, and a new one at half of its life while this object is open. None sends none.
    credentials_duration_seconds: life of such a session, 900 to 129600; by default the default of AWS.
    send_dask_config: scheduler and workers get the Dask configuration of this process, without credentials.
    configure_logging: True writes progress and warnings as log records to stderr.
    workspace: an error when the token is of another workspace; account is its old name.

    An argument that is absent or None has the value that Dask's configuration has for it, like `n-workers` in the section `ropewalk`
    of ~/.config/dask/ropewalk.yaml, or DASK_ROPEWALK__N_WORKERS.

    Machines, when the server has a cloud provider; `plan_cluster` takes the same arguments and returns the price:

    worker_vm_types, scheduler_vm_types: acceptable instance types, preferred ones first.
    worker_cpu, scheduler_cpu: vCPUs, or a range: 4 or [2, 8]. Four by default.
    worker_memory, scheduler_memory: memory within 10 percent, or a range: "16 GiB" or ["8 GiB", "32 GiB"].
    worker_gpu: number of GPUs of each worker; True is 1.
    worker_disk_size: disk of each instance, in GiB.
    arm: ARM processors.
    spot_policy: "on-demand", "spot" or "spot_with_fallback", for the workers; compute_purchase_option is its old name.
    provider, region, zone: by default the provider and region of the server's configuration, and the zone with the best
        availability.
    allow_cross_zone: allows instances in different zones.
    wait_for_capacity: time for which launches are retried while the cloud has no capacity, e.g. "6h".
    allow_ssh, allow_ssh_from: opens port 22 of the scheduler's instance, to addresses, ranges, "me" or "everyone".
    allow_ingress_from: opens the scheduler's port to addresses, ranges, "me" or "everyone", separated by commas.
    instance_credentials: True lets tasks use the role or service account of their instance. Otherwise they reach no metadata service.
    open_ports: further ports of the scheduler's instance, and who may reach each: {9000: "203.0.113.0/24"}.
    scheduler_port: port of the scheduler; 8786 by default on a cloud, any free port where instances share a machine.
    use_scheduler_public_ip: False makes clients connect to the scheduler's private address.
    backend_options: Coiled's: region_name, zone_name, spot, spot_on_demand_fallback, multizone_allow_cross_zone, ingress, firewall.

    Examples
    --------
    >>> with ropewalk.Cluster(n_workers=2) as cluster:
    ...     client = cluster.get_client()
    ...     print(client.submit(sum, [1, 2, 3]).result())
    """

    @configurable({**CLUSTER_MACHINE_TYPES, **OtherArguments.__annotations__})
    def __init__(
        self,
        name: str | None = None,
        *,
        n_workers: int | Sequence[int] | None = None,
        requirements: Sequence[str] | None = None,
        software: str | None = None,
        container: str | None = None,
        ignore_container_entrypoint: bool = False,
        registry_auth: Mapping[str, tuple[str, str]] | None = None,
        host_setup_script: str | None = None,
        package_sync: bool | Collection[str] | None = None,
        package_sync_ignore: Collection[str] | None = None,
        package_sync_only: Collection[str] | None = None,
        package_sync_strict: bool = False,
        package_sync_fail_on: FailOn = "critical-only",
        package_sync_conda_extras: Collection[str] | None = None,
        worker_class: str | None = None,
        worker_options: Mapping[str, Any] | None = None,
        scheduler_class: str | None = None,
        scheduler_options: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        idle_timeout: Duration = "20 minutes",
        wait_for_workers: WorkerAmount | None = None,
        shutdown_on_close: bool | None = None,
        keepalive: Duration | None = None,
        max_lifetime: Duration | None = None,
        max_cost: float | None = None,
        private_to_creator: bool = False,
        jupyter: bool = False,
        usage: Collection[Literal["groups", "exceptions", "memory"]] | None = None,
        unresponsive_timeout: Duration | None = None,
        watchdog_timeout: Duration | None = None,
        asynchronous: bool = False,
        timeout: Duration | None = None,
        api_url: str | None = None,
        token: str | None = None,
        show_widget: bool = True,
        custom_widget: ClusterWidget | bool | None = None,
        quiet: bool = False,
        credentials: Literal["local"] | None = "local",
        credentials_duration_seconds: int | None = None,
        send_dask_config: bool = True,
        configure_logging: bool | None = None,
        workspace: str | None = None,
        account: str | None = None,
        loop: Any = None,
        extra_worker_on_scheduler: bool | None = None,
        _n_worker_specs_per_host: int | None = None,
        **machines: Unpack[ClusterMachines],
    ) -> None:
        refuse_unknown(machines, CLUSTER_MACHINES | OTHER_ARGUMENTS | set(inspect.signature(Cluster).parameters))
        others: Any = {key: value for key, value in machines.items() if key in OTHER_ARGUMENTS}
        amount = DEFAULT_AMOUNT if wait_for_workers is None else wait_for_workers
        environ = environ or {}
        read = read_all(
            {
                "others": lambda: refuse_others(others),
                "name": lambda: _check_name(name),
                "workers": lambda: worker_count(n_workers),
                "wait": lambda: check_wait(amount, worker_count(n_workers)),
                "credentials": lambda: wants_credentials(credentials, credentials_duration_seconds),
                "env": lambda: {**thread_variables(others, environ), **check_envs(environ)},
                "workersPerInstance": lambda: _workers_per_instance(_n_worker_specs_per_host),
                "usage": lambda: usage_kinds(usage),
                "idleTimeout": lambda: seconds_of(idle_timeout, "idle_timeout"),
                "keepalive": lambda: _seconds(own_value(others, "keepalive", keepalive), "keepalive"),
                "maxLifetime": lambda: _seconds(own_value(others, "max_lifetime", max_lifetime), "max_lifetime"),
                "unresponsiveTimeout": lambda: _seconds(unresponsive_timeout, "unresponsive_timeout"),
                "watchdogTimeout": lambda: _seconds(watchdog_timeout, "watchdog_timeout"),
                "timeout": lambda: _seconds(timeout, "timeout"),
                "machines": lambda: cluster_fields(own_machines(machines, others)),
            }
        )
        choice = (package_sync, package_sync_ignore, package_sync_only, package_sync_strict, package_sync_fail_on, package_sync_conda_extras)
        given = {"software": software, "container": container, "requirements": requirements, "package_sync": package_sync or None}
        named = [argument for argument, value in given.items() if value is not None]
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named)} both say what the processes run in: give one of them")
        is_chosen = software is not None or container is not None
        options = read_options(*choice, requirements=requirements, default=not is_chosen)
        if jupyter and options is not None and importlib.util.find_spec("jupyter_server") is None:
            raise ValueError("jupyter=True needs jupyterlab, and package sync sends this environment, which has none: pip install jupyterlab")
        config = load_config(api_url, token)
        api = ClientApi(config)
        remote = Remote(api, workspace_name(workspace, account))
        forwards_credentials, credentials_duration_s = read["credentials"]
        body = _body(
            name=name,
            workers=read["workers"],
            software=(
                None
                if options is not None or is_chosen
                else {"requirements": matching_requirements(requirements)}
            ),
            softwareName=software,
            container=container,
            ignoreContainerEntrypoint=ignore_container_entrypoint or None,
            registryAuth=registry_credentials(registry_auth),
            hostSetupScript=setup_script(host_setup_script, None),
            env=read["env"],
            secretEnv=config_variables(config.token, environ) or None if send_dask_config else None,
            workerClass=worker_class,
            workerOptions=dict(worker_options or {}),
            workersPerInstance=read["workersPerInstance"],
            extraWorkerOnScheduler=extra_worker_on_scheduler or None,
            schedulerClass=scheduler_class,
            schedulerOptions=dict(scheduler_options or {}),
            idleTimeout=read["idleTimeout"],
            noClientTimeout=read["keepalive"],
            maxLifetime=read["maxLifetime"],
            maxCost=max_cost,
            privateToCreator=private_to_creator,
            jupyter=jupyter or None,
            usage=read["usage"],
            unresponsiveTimeout=read["unresponsiveTimeout"],
            watchdogTimeout=read["watchdogTimeout"],
            **read["machines"],
        )
        self._show_widget = show_widget
        self._start_widget = choose_widget(show_widget and not quiet, custom_widget)
        self._logs_records = bool(configure_logging)
        if configure_logging:
            log_to_stderr()
        self._acts = set()
        super().__init__(
            remote,
            body,
            amount=amount,
            # The wait for capacity is part of the start.
            timeout_s=(
                DEFAULT_TIMEOUT_S + body.get("waitForCapacity", 0.0) if read["timeout"] is None else read["timeout"]
            ),
            keepalive_s=read["keepalive"],
            shutdown_on_close=shutdown_on_close,
            asynchronous=asynchronous,
            quiet=quiet,
            loop=loop,
            forwards_credentials=forwards_credentials and not is_own_choice(environ),
            credentials_duration_s=credentials_duration_s,
            software=None if options is None else lambda say, until: make_software(api, options, say, until),
            synced=options,
        )


def _check_name(name: object) -> None:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name is {name!r}: give text, or n_workers={name!r} for a number of workers")


def _seconds(duration: Duration | None, name: str) -> float | None:
    return None if duration is None else seconds_of(duration, name)


def _workers_per_instance(count: int | None) -> int | None:
    if count is None or (isinstance(count, int) and not isinstance(count, bool) and count >= 1):
        return count
    raise ValueError(f"_n_worker_specs_per_host is {count!r}: give a number of workers, at least 1")


def usage_kinds(usage: Collection[str] | None) -> list[str] | None:
    kinds = ("groups", "exceptions", "memory")
    if usage is None or (not isinstance(usage, str) and all(kind in kinds for kind in usage)):
        return None if usage is None else list(usage)
    raise ValueError(f"usage is {usage!r}: give a list of {', '.join(kinds)}; [] for nothing")


def _body(**values: Any) -> dict[str, Any]:
    """Omits None values, because the server has the defaults."""
    return {key: value for key, value in values.items() if value is not None}

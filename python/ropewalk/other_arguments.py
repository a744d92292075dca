"""Arguments of Coiled's Cluster that have another name here, or no counterpart. The latter are refused with the reason,
all together, before anything is launched. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class OtherArguments(TypedDict, total=False):
    cloud: Any
    use_dashboard_https: bool | None
    dashboard_custom_subdomain: str | None
    cluster_timeout: str | None
    no_client_timeout: str | None
    capacity_retry_timeout: str | int | None
    open_extra_ports: Sequence[int] | None
    unset_single_threading_variables: bool | None
    package_sync_use_uv_installer: bool | None
    worker_disk_config: Any
    scheduler_disk_config: Any
    allow_spark: bool | None
    mount_bucket: Any
    batch_job_ids: Any
    batch_job_container: str | None
    scheduler_sidecars: Any
    worker_sidecars: Any
    pause_on_exit: bool | None
    skip_ssd_mount: bool | None
    filestores_to_attach: Any


OTHER_ARGUMENTS = frozenset(OtherArguments.__annotations__)

#: Our name for the same.
OWN_NAMES: Mapping[str, str] = {
    "cluster_timeout": "max_lifetime",
    "no_client_timeout": "keepalive",
    "capacity_retry_timeout": "wait_for_capacity",
}

_JOB = "clusters and batch jobs do not share instances: use ropewalk.batch.run"
_SIDECARS = "an instance runs Dask alone: start the program in host_setup_script"
_PATHS = "read and write objects by their paths (s3://bucket/key) with s3fs or gcsfs in your tasks, or use ropewalk.batch.run with input_filestore"
#: Why methods of Coiled's Cluster do nothing here.
NO_MOUNT = f"Ropewalk mounts no buckets, because a mount needs FUSE and root on every instance: {_PATHS}"
NO_SPARK = "clusters run Dask alone: dask.dataframe reads the same files; a program that needs Spark can bring it in a container, with ropewalk.batch.run"
_DISK = "worker_disk_size, scheduler_disk_size and worker_disk_throughput describe disks"
#: By argument: the values without effect, and why any other is refused.
REFUSED: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "cloud": ((None,), "api_url and token say which server is used, and as whom"),
    "use_dashboard_https": ((None, True), "the dashboard is only reachable through the API, for signed-in users"),
    "dashboard_custom_subdomain": ((None,), "the operator chooses the address of dashboards (docs/dashboard.md)"),
    "package_sync_use_uv_installer": ((None, True), "uv installs all packages"),
    "worker_disk_config": ((None,), _DISK),
    "scheduler_disk_config": ((None,), _DISK),
    "allow_spark": ((None, False), NO_SPARK),
    "mount_bucket": ((None,), NO_MOUNT),
    "filestores_to_attach": ((None, []), _PATHS),
    "batch_job_ids": ((None, []), _JOB),
    "batch_job_container": ((None,), _JOB),
    "scheduler_sidecars": ((None, []), _SIDECARS),
    "worker_sidecars": ((None, []), _SIDECARS),
    "pause_on_exit": ((None, False), "a cluster cannot be paused: shutdown_on_close=False and scale(0) keep its scheduler"),
    "skip_ssd_mount": ((None, True), "local disks of instances are not mounted"),
}
#: What Dask's nannies set to 1.
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_NANNY = "DASK_DISTRIBUTED__NANNY__PRE_SPAWN_ENVIRON"


def refuse_others(arguments: Mapping[str, Any]) -> None:
    """Raises ValueError naming every argument that cannot have its effect here."""
    problems = [
        f"{name}={value!r} has no effect here: {REFUSED[name][1]}"
        for name, value in arguments.items()
        if name in REFUSED and not any(value is neutral or (neutral is not None and value == neutral) for neutral in REFUSED[name][0])
    ]
    if problems:
        raise ValueError("; ".join(problems))


def own_value(arguments: Mapping[str, Any], own: str, value: Any) -> Any:
    """The value of an argument that may have been given under Coiled's name. Raises ValueError when both differ."""
    for name, same in OWN_NAMES.items():
        other = arguments.get(name)
        if same != own or other is None:
            continue
        if value is not None and value != other:
            raise ValueError(f"{own} is {value!r}, and {name} is {other!r}, which is the same argument: give one of the two")
        # Coiled's 0 turns the wait off, as None does here.
        return other or None
    return value


def _extra_ports(arguments: Mapping[str, Any], allow_ingress_from: str | None) -> dict[int, str] | None:
    """`open_extra_ports` as a value of `open_ports`. Coiled opens them to everyone by default; here the program says so."""
    ports = arguments.get("open_extra_ports")
    if not ports:
        return None
    if allow_ingress_from is None:
        opened = ", ".join(f'{port}: "me"' for port in ports)
        raise ValueError(f"open_extra_ports={ports!r} does not say who may reach them: give open_ports={{{opened}}}, or allow_ingress_from too")
    return {port: allow_ingress_from for port in ports}


def thread_variables(arguments: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, str]:
    """`unset_single_threading_variables` as an environment variable that Dask reads as configuration."""
    if not arguments.get("unset_single_threading_variables") or _NANNY in environ:
        return {}
    return {_NANNY: repr({name: None for name in _THREADS})}


def own_machines(machines: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments about machines and network, with Coiled's other names for them."""
    own = {key: value for key, value in machines.items() if key not in OTHER_ARGUMENTS}
    own["wait_for_capacity"] = own_value(others, "wait_for_capacity", own.get("wait_for_capacity"))
    ports = _extra_ports(others, own.get("allow_ingress_from"))
    return own if ports is None else {**own, "open_ports": {**ports, **(own.get("open_ports") or {})}}

"""Translates arguments about machines into fields of a request. Only the server knows the available machines; values of a wrong
type are refused here, by the name of the argument."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypedDict

from ropewalk.all_problems import read_all
from ropewalk.amounts import as_written_in_jobs, is_count, read_cpu, read_memory
from ropewalk.backend_options import read_backend_options
from ropewalk.durations import Duration, seconds_of
from ropewalk.own_address import resolve_me

Cpu = int | Sequence[int]
Memory = str | Sequence[str]
SpotPolicy = Literal["on-demand", "spot", "spot_with_fallback"]

_POLICIES = ("on-demand", "spot", "spot_with_fallback")


class PlaceArguments(TypedDict, total=False):
    provider: str | None
    region: str | None
    zone: str | None
    allow_cross_zone: bool | None
    use_best_zone: bool | None
    tags: Mapping[str, str] | None
    arm: bool | None
    spot_policy: SpotPolicy | None
    wait_for_capacity: Duration | None
    #: Named like the command-line option: a dictionary, or texts like "team=weather".
    tag: Mapping[str, str] | Sequence[str] | str | None
    allow_ssh: bool | None
    allow_ssh_from: str | None
    allow_ingress_from: str | None
    instance_credentials: bool | None


class ClusterMachines(PlaceArguments, total=False):
    """Keyword arguments of `Cluster` and `plan_cluster`, by their names in Coiled."""

    worker_vm_types: Sequence[str] | None
    worker_cpu: Cpu | None
    worker_memory: Memory | None
    worker_gpu: int | bool | None
    worker_gpu_type: str | None
    worker_disk_size: int | str | None
    worker_disk_throughput: int | None
    scheduler_vm_types: Sequence[str] | None
    scheduler_cpu: Cpu | None
    scheduler_memory: Memory | None
    scheduler_disk_size: int | str | None
    scheduler_gpu: bool | None
    scheduler_port: int | None
    open_ports: Mapping[int, str] | None
    use_scheduler_public_ip: bool | None
    compute_purchase_option: SpotPolicy | None
    backend_options: Mapping[str, Any] | None


class JobMachines(PlaceArguments, total=False):
    """Keyword arguments of `batch.run` and `batch.plan`."""

    vm_type: str | Sequence[str] | None
    scheduler_vm_type: str | Sequence[str] | None
    cpu: Cpu | str | None
    memory: Memory | None
    gpu: bool | None
    disk_size: int | str | None


JOB_MACHINES = frozenset(JobMachines.__annotations__) | frozenset(PlaceArguments.__annotations__)
#: Each machine argument of a cluster, with its type.
CLUSTER_MACHINE_TYPES: Mapping[str, Any] = {**ClusterMachines.__annotations__, **PlaceArguments.__annotations__}
CLUSTER_MACHINES = frozenset(ClusterMachines.__annotations__) | frozenset(PlaceArguments.__annotations__)


def cluster_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a request for a cluster; TypeError and ValueError name the argument."""
    refuse_unknown(arguments, CLUSTER_MACHINES)
    given = {name: value for name, value in arguments.items() if value is not None}
    given = _together(given, "spot_policy", {"spot_policy": given.pop("compute_purchase_option", None)}, "compute_purchase_option")
    for name, value in read_backend_options(given.pop("backend_options", {})).items():
        given = _together(given, name, {name: value}, "backend_options")
    readers: dict[str, Callable[[], Any]] = {
        "workerVmTypes": lambda: _types(given, "worker_vm_types"),
        "workerCpu": lambda: read_cpu(given, "worker_cpu"),
        "workerMemory": lambda: read_memory(given, "worker_memory"),
        "workerGpu": lambda: _gpu(given, "worker_gpu"),
        "workerGpuType": lambda: _text(given, "worker_gpu_type"),
        "workerDiskSize": lambda: _disk(given, "worker_disk_size"),
        "workerDiskThroughput": lambda: _throughput(given, "worker_disk_throughput"),
        "schedulerDiskSize": lambda: _disk(given, "scheduler_disk_size"),
        "schedulerGpu": lambda: _flag(given, "scheduler_gpu"),
        "schedulerVmTypes": lambda: _types(given, "scheduler_vm_types"),
        "schedulerCpu": lambda: read_cpu(given, "scheduler_cpu"),
        "schedulerMemory": lambda: read_memory(given, "scheduler_memory"),
        "schedulerPort": lambda: _port(given, "scheduler_port"),
        "openPorts": lambda: _open_ports(given, "open_ports"),
        "useSchedulerPublicIp": lambda: _flag(given, "use_scheduler_public_ip"),
        **_place(given),
    }
    return {name: value for name, value in read_all(readers).items() if value is not None}


def job_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a request for a job; TypeError and ValueError name the argument."""
    given = as_written_in_jobs({name: value for name, value in arguments.items() if value is not None})
    readers: dict[str, Callable[[], Any]] = {
        "vmTypes": lambda: _types(given, "vm_type"),
        "schedulerVmTypes": lambda: _types(given, "scheduler_vm_type"),
        "cpu": lambda: read_cpu(given, "cpu"),
        "memory": lambda: read_memory(given, "memory"),
        "gpu": lambda: _gpu(given, "gpu"),
        "diskSize": lambda: _disk(given, "disk_size"),
        **_place(given),
    }
    return {name: value for name, value in read_all(readers).items() if value is not None}


def _together(given: dict[str, Any], name: str, other: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Merges an argument that has two names. Raises ValueError when both are given with different values."""
    value = other[name]
    if value is None:
        return given
    if given.get(name, value) != value:
        raise ValueError(f"{name} is {given[name]!r}, and {source} has {value!r}: give one of the two")
    return {**given, name: value}


def _place(given: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    wait = given.get("wait_for_capacity")
    return {
        "provider": lambda: _text(given, "provider"),
        "region": lambda: _text(given, "region"),
        "zone": lambda: _text(given, "zone"),
        "allowCrossZone": lambda: _flag(given, "allow_cross_zone"),
        "arm": lambda: _flag(given, "arm"),
        "useBestZone": lambda: _flag(given, "use_best_zone"),
        "tags": lambda: _tags({"tags": _tag_pairs(given["tag"])} if "tag" in given else given, "tags"),
        "spotPolicy": lambda: _policy(given),
        "waitForCapacity": lambda: None if wait is None else seconds_of(wait, "wait_for_capacity"),
        "allowSsh": lambda: _flag(given, "allow_ssh"),
        "allowSshFrom": lambda: _sources(given, "allow_ssh_from"),
        "allowIngressFrom": lambda: _sources(given, "allow_ingress_from"),
        "instanceCredentials": lambda: _flag(given, "instance_credentials"),
    }


def _policy(given: Mapping[str, Any]) -> str | None:
    policy: str | None = given.get("spot_policy")
    if policy is not None and policy not in _POLICIES:
        raise ValueError(f"spot_policy is {policy!r}: give one of {', '.join(_POLICIES)}")
    return policy


def _types(given: Mapping[str, Any], name: str) -> list[str] | None:
    value = given.get(name)
    if value is None:
        return None
    types = [value] if isinstance(value, str) else [*value]
    if types and all(isinstance(one, str) for one in types):
        return types
    raise ValueError(f"{name} is {value!r}: give names of instance types, preferred ones first")


def _gpu(given: Mapping[str, Any], name: str) -> int | bool | None:
    value = given.get(name)
    if value is None or (isinstance(value, int) and value >= 0):
        return value
    raise ValueError(f"{name} is {value!r}: give True, or a number of GPUs")


def _disk(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return f"{value} GiB"
    raise ValueError(f'{name} is {value!r}: give a number of GiB, or text like "100 GiB"')


def _throughput(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    if value is None or (is_count(value) and value > 0):
        return value
    raise ValueError(f"{name} is {value!r}: give a number of MB/s, like 250")


def _tags(given: Mapping[str, Any], name: str) -> dict[str, str] | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair):
        return dict(value)
    raise ValueError(f'{name} is {value!r}: write it like {{"project": "climate"}}')


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{name} is {value!r}: give text")


def _tag_pairs(value: Any) -> dict[str, str]:
    if isinstance(value, Mapping):
        return dict(value)
    pairs = [str(text).partition("=") for text in ([value] if isinstance(value, str) else value)]
    if any(not key or not equals for key, equals, _ in pairs):
        raise ValueError(f'tag is {value!r}: give a dictionary, or texts like "team=weather"')
    return {key: text for key, _, text in pairs}


def _sources(given: Mapping[str, Any], name: str) -> str | None:
    text = _text(given, name)
    return None if text is None else resolve_me(text, name)


def _port(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    if value is None or (is_count(value) and 1024 <= value <= 65_535):
        return value
    raise ValueError(f"{name} is {value!r}: give a port from 1024 to 65535")


def _open_ports(given: Mapping[str, Any], name: str) -> dict[str, str] | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, Mapping) and all(is_count(port) and isinstance(sources, str) for port, sources in value.items()):
        return {str(port): resolve_me(sources, name) for port, sources in value.items()}
    raise ValueError(f'{name} is {value!r}: write it like {{9000: "203.0.113.0/24"}}')


def _flag(given: Mapping[str, Any], name: str) -> bool | None:
    value = given.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise TypeError(f"{name} is {value!r}: give True or False")


def refuse_unknown(arguments: Collection[str], known: Collection[str]) -> None:
    """Raises TypeError naming every unknown argument, and the known one that it resembles."""
    unknown = [f"{name!r} is not a keyword argument{_resembles(name, known)}" for name in arguments if name not in known]
    if unknown:
        raise TypeError("; ".join(unknown))


def _resembles(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.7)
    return f": did you mean {near[0]!r}?" if near else ""

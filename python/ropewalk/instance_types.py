"""Instance types that clusters and jobs can use, filtered as `coiled.list_instance_types` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict
from urllib.parse import urlencode

from dask.utils import parse_bytes

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config

_MIB = 2**20
#: Like worker_memory: a size matches within 10 percent.
_TOLERANCE = 0.1


class InstanceType(TypedDict):
    name: str
    #: vCPUs.
    cores: int
    gpus: int
    gpu_name: str | None
    #: MiB.
    memory: int
    #: The provider: aws, gcp, or the server's own.
    backend_type: str
    arch: Literal["x86_64", "arm64"]
    #: US dollars in the cheapest zone, approximately; None without a price.
    price_per_hour: float | None
    spot_price_per_hour: float | None
    zones: list[str]


def list_instance_types(
    backend: str | None = None,
    min_cores: int | None = None,
    min_gpus: int | None = None,
    min_memory: str | int | None = None,
    cores: int | Sequence[int] | None = None,
    memory: str | int | Sequence[str | int] | None = None,
    gpus: int | Sequence[int] | None = None,
    arch: Literal["x86_64", "arm64"] | None = None,
    *,
    region: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> dict[str, InstanceType]:
    """Instance types by name, cheapest first.

    `cores`, `memory` and `gpus` are a value or a range: 4 or [2, 8]. Memory is text like "8 GiB", or a number of bytes; a single
    value is met within 10 percent. `backend` is a provider of the server, and `region` one of its regions. Raises ValueError that
    names the argument.

    Examples
    --------
    >>> list(ropewalk.list_instance_types(cores=[2, 8], memory="16 GiB", arch="arm64"))
    ['t4g.xlarge', 'm6g.xlarge']
    """
    if arch not in (None, "x86_64", "arm64"):
        raise ValueError(f'arch is {arch!r}: give "x86_64" or "arm64"')
    bounds = {
        "cores": _bounds("cores", cores, min_cores),
        "gpus": _bounds("gpus", gpus, min_gpus),
        "memory": _memory_bounds(memory, min_memory),
    }
    query = {"provider": backend, "region": region, "arm": None if arch is None else str(arch == "arm64").lower()}
    text = urlencode({key: value for key, value in query.items() if value is not None})
    answer = ClientApi(load_config(api_url, token)).request("GET", f"/v1/instance-types{text and '?'}{text}")
    return {one["type"]: _record(one) for one in answer["items"] if _fits(one, bounds)}


def _fits(one: dict[str, Any], bounds: dict[str, tuple[float, float]]) -> bool:
    values = {"cores": one["vcpus"], "gpus": one["gpus"], "memory": one["memoryBytes"]}
    return all(lowest <= values[name] <= highest for name, (lowest, highest) in bounds.items())


def _record(one: dict[str, Any]) -> InstanceType:
    return {
        "name": one["type"],
        "cores": one["vcpus"],
        "gpus": one["gpus"],
        "gpu_name": one["gpuName"],
        "memory": int(one["memoryBytes"] / _MIB),
        "backend_type": one["provider"],
        "arch": one["architecture"],
        "price_per_hour": one["pricePerHour"],
        "spot_price_per_hour": one["spotPricePerHour"],
        "zones": one["zones"],
    }


def _bounds(name: str, value: Any, at_least: Any) -> tuple[float, float]:
    lowest, highest = (0, float("inf")) if value is None else _pair(name, value)
    for one in (lowest, highest, *(() if at_least is None else (at_least,))):
        if isinstance(one, bool) or not isinstance(one, (int, float)):
            raise ValueError(f"{name} is {value!r}, min_{name} is {at_least!r}: give a number, or a range like [2, 8]")
    return max(lowest, at_least or 0), highest


def _memory_bounds(value: Any, at_least: Any) -> tuple[float, float]:
    try:
        floor: float = 0 if at_least is None else parse_bytes(at_least)
        if value is None:
            return floor, float("inf")
        lowest, highest = (float(parse_bytes(one)) for one in _pair("memory", value))
    except (ValueError, TypeError, AttributeError):
        text = f'memory is {value!r}, min_memory is {at_least!r}: write it like "8 GiB", or as a range like ["8 GiB", "32 GiB"]'
        raise ValueError(text) from None
    if not isinstance(value, (list, tuple)):
        lowest, highest = lowest * (1 - _TOLERANCE), highest * (1 + _TOLERANCE)
    return max(floor, lowest), highest


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, (list, tuple)):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name} is {value!r}: a range has two values")
    return value[0], value[1]

"""Numbers of workers, CPUs and bytes, each as one value or as a range. Pure; ValueError names the argument."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from dask.utils import parse_bytes

from ropewalk.waiting import WorkerAmount, check_amount


def read_cpu(given: Mapping[str, Any], name: str) -> int | list[int] | None:
    read: int | list[int] | None = _one_or_range(given.get(name), name, is_count, "4 or [2, 8]", int)
    return read


def read_memory(given: Mapping[str, Any], name: str) -> str | list[str] | None:
    read: str | list[str] | None = _one_or_range(given.get(name), name, _is_size, '"16 GiB" or ["8 GiB", "32 GiB"]', parse_bytes)
    return read


def as_written_in_jobs(given: Mapping[str, Any]) -> dict[str, Any]:
    """`cpu` and `memory` of a job as Coiled's batch jobs take them too: `"4"`, `"2-8"`, `"8GB-32GB"`."""
    read = dict(given)
    for name in ("cpu", "memory"):
        value = given.get(name)
        ends = re.fullmatch(r"\s*(\d[^,-]*)-\s*(\d[^,-]*)", value) if isinstance(value, str) else None
        if ends is not None:
            read[name] = [end.strip() for end in ends.groups()]
    texts = read.get("cpu")
    if isinstance(texts, str) and texts.isdecimal():
        read["cpu"] = int(texts)
    elif isinstance(texts, list) and all(isinstance(end, str) and end.isdecimal() for end in texts):
        read["cpu"] = [int(end) for end in texts]
    return read


def worker_count(n_workers: int | Sequence[int] | None) -> int | list[int] | None:
    if n_workers is None or (is_count(n_workers) and cast(int, n_workers) >= 0):
        return cast("int | None", n_workers)
    if isinstance(n_workers, (list, tuple)) and len(n_workers) == 2 and all(map(is_count, n_workers)):
        first, last = n_workers
        if not 0 <= first <= last or last == 0:
            raise ValueError(f"n_workers is {n_workers!r}: give the smaller number first, and at least one worker, as in [4, 20]")
        return [first, last]
    raise ValueError(f"n_workers is {n_workers!r}: give a number of workers, or a range like [4, 20]")


def check_scale(n: object, method: str = "scale") -> int:
    if is_count(n) and cast(int, n) >= 0:
        return cast(int, n)
    raise ValueError(f"{method}({n!r}): give a whole number of workers, 0 or more")


def refuse_parts(arguments: Collection[str]) -> None:
    """Arguments with which other cluster classes scale: the cores, the memory or the jobs of all workers together."""
    if arguments:
        raise TypeError(f"{' and '.join(sorted(arguments))}: a cluster is scaled by its number of workers, which are all alike: give n")


def check_wait(wait_for_workers: WorkerAmount, workers: int | list[int] | None) -> None:
    """Raises ValueError for an invalid amount, or one above the maximum of workers."""
    check_amount(wait_for_workers)
    most = workers[-1] if isinstance(workers, list) else workers
    if most is not None and is_count(wait_for_workers) and wait_for_workers > most:
        raise ValueError(f"wait_for_workers is {wait_for_workers}, and n_workers is {workers}: so many workers never come")


def refuse_cores(arguments: Collection[str]) -> None:
    """Arguments of LocalCluster's Adaptive; here a worker is an instance."""
    cores = [name for name in ("minimum_cores", "maximum_cores", "minimum_memory", "maximum_memory") if name in arguments]
    if cores:
        names = " and ".join(cores)
        raise TypeError(f"{names}: adaptive scaling counts workers, which have all the same cores and memory: give minimum and maximum")


def is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_size(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return float(parse_bytes(value)) > 0
    except ValueError:
        return False


def _one_or_range(value: Any, name: str, is_amount: Callable[[object], bool], example: str, size: Callable[[Any], float]) -> Any:
    if value is None or is_amount(value):
        return value
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(map(is_amount, value)):
        raise ValueError(f"{name} is {value!r}: write it like {example}")
    if size(value[0]) > size(value[1]):
        raise ValueError(f"{name} is {value!r}: give the smaller end of the range first")
    return [*value]

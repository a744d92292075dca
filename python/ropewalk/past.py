"""A cluster's or job's state at a past time, and its cost over time, as the API reports them."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, cast
from urllib.parse import quote

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config
from ropewalk.times import iso_of
from ropewalk.views import Event, Stage, TimedReason


class PastInstance(TypedDict):
    id: str
    role: str
    type: str
    zone: str
    market: str
    state: str
    #: State of its Dask process; None without one.
    process: str | None
    stages: list[Stage]


class _Past(TypedDict):
    number: int
    name: str
    at: str
    status: str
    reason: TimedReason | None
    instances: list[PastInstance]
    #: US dollars from its start until then.
    dollars: float
    #: Of the instances that existed then.
    dollarsPerHour: float


class PastCluster(_Past):
    #: Wanted instances, including the head instance.
    target: int
    #: None for the cluster of a job.
    workersStarted: int | None
    #: The newest ones until then.
    events: list[Event]


class PastTasks(TypedDict):
    total: int
    #: Includes tasks that an instance held without having started them, and those between two attempts.
    pending: int
    running: int
    done: int
    error: int
    cancelled: int


class PastJob(_Past):
    tasks: PastTasks


class CostPoint(TypedDict):
    at: str
    dollars: float


def past_path(path: str, time: datetime | str) -> str:
    """`time`: a datetime (without a time zone it is local), an RFC 3339 time, or an age, like "20 minutes"."""
    if isinstance(time, datetime):
        time = iso_of(time)
    return f"{path}/at?time={quote(time, safe='')}"


def cluster_at(number: int, time: datetime | str, *, api_url: str | None = None, token: str | None = None) -> PastCluster:
    """The state of a cluster, open or ended, at a past time: status, instances with their stages, workers, events,
    cost. Raises RopewalkError VALIDATION for a time before its start or in the future.

    Examples
    --------
    >>> ropewalk.cluster_at(12, "20 minutes")["workersStarted"]
    4
    """
    return cast(PastCluster, ClientApi(load_config(api_url, token)).request("GET", past_path(f"/v1/clusters/{number}", time)))


def cluster_costs(number: int, *, api_url: str | None = None, token: str | None = None) -> list[CostPoint]:
    """The cluster's cost over time, in US dollars, at equal intervals since its first instance."""
    answer = ClientApi(load_config(api_url, token)).request("GET", f"/v1/clusters/{number}/costs")
    return cast("list[CostPoint]", answer["points"])

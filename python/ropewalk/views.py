"""The parts of the API's answers that this package reads. The server may add to them."""

from __future__ import annotations

from typing import TypedDict


class Reason(TypedDict):
    code: str
    text: str


class Failure(Reason):
    count: int


class Range(TypedDict):
    minimum: int
    maximum: int


class Process(TypedDict):
    name: str
    state: str
    stage: str


class Instance(TypedDict):
    id: str
    role: str
    state: str
    process: Process | None


class DaskView(TypedDict):
    schedulerAddress: str | None
    workersWanted: int
    workersStarted: int
    workersErrored: int
    adaptive: Range | None


class ClusterView(TypedDict):
    number: int
    name: str
    job: int | None
    status: str
    reason: Reason | None
    instances: list[Instance]
    failures: list[Failure]
    dask: DaskView | None


class Created(TypedDict):
    number: int
    name: str
    existing: bool
    warnings: list[str]


class Credentials(TypedDict):
    schedulerAddress: str
    ca: str
    certificate: str
    key: str


class DashboardLink(TypedDict):
    url: str
    expiresAt: str


class LogLine(TypedDict):
    at: str
    instance: str
    stream: str
    text: str

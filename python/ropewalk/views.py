"""The parts of the API's answers that this package reads. The server may add to them."""

from __future__ import annotations

from typing import Literal, TypedDict


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


class PlanPrice(TypedDict):
    """US dollars an hour, for instances alone."""

    #: When what is asked for first is had.
    firstChoice: float
    #: When the dearest of what may be had instead is.
    max: float


class PlannedType(TypedDict):
    type: str
    vcpus: int
    memoryBytes: int
    architecture: Literal["x86_64", "arm64"]
    gpus: int
    gpuName: str | None
    #: None where it is not sold on that market.
    pricePerHour: float | None
    spotPricePerHour: float | None
    zones: list[str]


class PlannedRole(TypedDict):
    count: int
    #: Both in the order in which they are tried.
    markets: list[Literal["on-demand", "spot"]]
    types: list[PlannedType]
    #: Of all `count` together.
    pricePerHour: PlanPrice


class PriceSource(TypedDict):
    market: Literal["on-demand", "spot"]
    source: str
    asOf: str


class Plan(TypedDict):
    provider: str
    #: None where there is only one, or none.
    region: str | None
    #: All instances are in one of them, unless `allowCrossZone`.
    zones: list[str]
    allowCrossZone: bool
    diskGib: int | None
    #: The scheduler's instance, or the first of a job's.
    head: PlannedRole
    workers: PlannedRole
    pricePerHour: PlanPrice
    prices: list[PriceSource]
    warnings: list[str]


class _Created(TypedDict):
    number: int
    name: str
    existing: bool
    warnings: list[str]


class Created(_Created, total=False):
    #: Of a new cluster on a cloud, all its instances together.
    pricePerHour: PlanPrice


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

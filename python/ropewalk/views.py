"""The parts of the API's answers that this package reads. The server can add fields."""

from __future__ import annotations

from typing import Literal, TypedDict


class Reason(TypedDict):
    code: str
    text: str


class TimedReason(Reason, total=False):
    at: str


class WhyFact(TypedDict):
    name: str
    value: str | int | float
    at: str | None
    #: Numbers (`seq`) of the cluster's events that record it; empty where no event does.
    events: list[int]


class WhySentence(TypedDict):
    """`about` is the explained subject: `state`, `size`, `instanceType` or `end`."""

    about: Literal["state", "size", "instanceType", "end"]
    text: str
    facts: list[WhyFact]


class Why(TypedDict):
    """Explains the state of a cluster or job, in sentences with their supporting facts."""

    number: int
    status: str
    sentences: list[WhySentence]
    staleSince: str | None


class Failure(Reason):
    count: int


class Range(TypedDict):
    minimum: int
    maximum: int


class Process(TypedDict):
    name: str
    state: str
    stage: str


class Stage(TypedDict):
    name: str
    at: str


class _Machine(TypedDict, total=False):
    address: str | None
    #: Instance type.
    type: str
    market: Literal["on-demand", "spot"]
    #: The stages that it has reached, in order.
    stages: list[Stage]


class Instance(_Machine):
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


class Event(TypedDict):
    #: Its number: later events have greater ones.
    seq: int
    at: str
    code: str
    text: str
    #: The user who requested it, if any.
    by: str | None


class OwnCost(TypedDict):
    dollars: float
    dollarsPerHour: float


class _Details(TypedDict, total=False):
    endedAt: str | None
    provider: str
    region: str | None
    events: list[Event]
    cost: OwnCost | None


class ClusterView(_Details):
    number: int
    name: str
    #: Its creator.
    user: str
    job: int | None
    status: str
    reason: TimedReason | None
    instances: list[Instance]
    failures: list[Failure]
    dask: DaskView | None


class PlanPrice(TypedDict):
    """US dollars per hour, for instances only; None when the price is unknown."""

    #: Price of the first choice.
    firstChoice: float | None
    #: Price of the most expensive alternative.
    max: float | None


class PlannedType(TypedDict):
    type: str
    vcpus: int
    memoryBytes: int
    architecture: Literal["x86_64", "arm64"]
    gpus: int
    gpuName: str | None
    #: None when the type is not sold on that market, or its price is unknown.
    pricePerHour: float | None
    spotPricePerHour: float | None
    zones: list[str]


class PlannedRole(TypedDict):
    count: int
    #: Both in the order of attempts.
    markets: list[Literal["on-demand", "spot"]]
    types: list[PlannedType]
    #: For all `count` instances.
    pricePerHour: PlanPrice


class PriceSource(TypedDict):
    market: Literal["on-demand", "spot"]
    source: str
    asOf: str


class Plan(TypedDict):
    provider: str
    #: None for a provider without regions.
    region: str | None
    #: All instances are in one of these zones, unless `allowCrossZone`.
    zones: list[str]
    allowCrossZone: bool
    diskGib: int | None
    #: The scheduler's instance, or the first instance of a job.
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
    #: For all instances of a new cluster; absent without prices.
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

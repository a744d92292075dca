"""Plans: the planned instances, and their price. Launches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ropewalk.amounts import worker_count
from ropewalk.client_api import ClientApi
from ropewalk.config import load_config
from ropewalk.defaults import with_defaults
from ropewalk.errors import RopewalkError
from ropewalk.field_names import in_arguments
from ropewalk.machines import CLUSTER_MACHINES, ClusterMachines, cluster_fields
from ropewalk.views import Plan, PlanPrice

if TYPE_CHECKING:
    from typing_extensions import Unpack


def plan_cluster(
    n_workers: int | Sequence[int] | None = None,
    *,
    api_url: str | None = None,
    token: str | None = None,
    **machines: Unpack[ClusterMachines],
) -> Plan:
    """The instances that `Cluster` would launch with these arguments: types in the order of attempts, zones,
    markets, dollars per hour.

    Examples
    --------
    >>> plan = ropewalk.plan_cluster(10, worker_cpu=[4, 8], spot_policy="spot_with_fallback")
    >>> plan["pricePerHour"]["max"]
    2.11
    """
    given = with_defaults({"n_workers": n_workers, **machines}, {"n_workers", *CLUSTER_MACHINES})
    workers = worker_count(given.pop("n_workers", None))
    body = {**({} if workers is None else {"workers": workers}), **cluster_fields(given)}
    try:
        return cast(Plan, ClientApi(load_config(api_url, token)).request("POST", "/v1/plans/clusters", body))
    except RopewalkError as error:
        raise in_arguments(error) from None


def price_range(price: PlanPrice) -> str:
    """As display text: "$0.10 to $0.34"."""
    return f"{_dollars(price['firstChoice'])} to {_dollars(price['max'])}"


def _dollars(amount: float | None) -> str:
    return "an unknown price" if amount is None else f"${amount:.2f}"

"""Plans: the instances that would be launched, and their price. Launches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config
from ropewalk.machines import ClusterMachines, cluster_fields
from ropewalk.views import Plan

if TYPE_CHECKING:
    from typing_extensions import Unpack


def plan_cluster(
    n_workers: int = 4,
    *,
    api_url: str | None = None,
    token: str | None = None,
    **machines: Unpack[ClusterMachines],
) -> Plan:
    """What `Cluster` would launch with these arguments: types in the order of attempts, zones, markets, dollars per hour.

    Examples
    --------
    >>> plan = ropewalk.plan_cluster(10, worker_cpu=[4, 8], spot_policy="spot_with_fallback")
    >>> plan["pricePerHour"]["max"]
    2.11
    """
    body = {"workers": n_workers, **cluster_fields(machines)}
    return cast(Plan, ClientApi(load_config(api_url, token)).request("POST", "/v1/plans/clusters", body))

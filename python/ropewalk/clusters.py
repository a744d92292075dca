"""Clusters of the workspace without a cluster object: lists and ends them, and reads their logs. The signatures are
Coiled's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from distributed.utils import Logs

from ropewalk.batch.paths import connect, pages
from ropewalk.client_api import ClientApi
from ropewalk.errors import RopewalkError
from ropewalk.logs import Workers, check_named, chosen_lines, grouped, is_wanted, worker_name
from ropewalk.past import PastCluster, PastInstance, past_path
from ropewalk.views import ClusterView, Instance, LogLine
from ropewalk.workspaces import workspace_name

_PAGE = 100


class ListedCluster(ClusterView):
    #: The same as `number`, under Coiled's name.
    id: int


def list_clusters(
    account: str | None = None,
    workspace: str | None = None,
    max_pages: int | None = 20,
    just_mine: bool = False,
    *,
    api_url: str | None = None,
    token: str | None = None,
) -> list[ListedCluster]:
    """Dask clusters, open and ended, newest first: `max_pages` pages of 100, or all of them with None. `just_mine`:
    only those of the token's user. `account` is the old name of `workspace`.

    Examples
    --------
    >>> [one["name"] for one in ropewalk.list_clusters() if one["status"] == "ready"]
    ['blue']
    """
    if max_pages is not None and (isinstance(max_pages, bool) or not isinstance(max_pages, int) or max_pages < 1):
        raise ValueError(f"max_pages is {max_pages!r}: give a number of pages of {_PAGE}, or None for all")
    api = connect(api_url, token, workspace_name(workspace, account))
    filters = {"kind": "dask"}
    if just_mine:
        filters["user"] = api.request("GET", "/v1/whoami")["user"]
    found = pages(api, "/v1/clusters", None if max_pages is None else max_pages * _PAGE, filters)
    return [cast(ListedCluster, {"id": one["number"], **one}) for one in found]


def delete_cluster(
    name: str | None = None,
    cluster_id: int | None = None,
    account: str | None = None,
    workspace: str | None = None,
    pause: bool = False,
    *,
    api_url: str | None = None,
    token: str | None = None,
) -> None:
    """Ends an open cluster, by its name or its number; does not wait until its instances have ended. Its data, logs
    and costs are kept. Ending an ended cluster changes nothing. Raises RopewalkError NOT_FOUND when no open
    cluster has the name, or none the number. `pause` is refused: a cluster cannot be paused.

    Examples
    --------
    >>> ropewalk.delete_cluster("blue")
    """
    if (name is None) == (cluster_id is None):
        raise ValueError("give either name or cluster_id")
    if pause:
        raise ValueError("pause: a cluster cannot be paused; end it, or scale it to 0 workers to keep its scheduler")
    api = connect(api_url, token, workspace_name(workspace, account))
    if cluster_id is not None:
        number = _checked(cluster_id)
    else:
        number = _number_named(api, str(name), kind="dask")
    api.request("POST", f"/v1/clusters/{number}/stop")


def cluster_logs(
    cluster_id: int,
    account: str | None = None,
    workspace: str | None = None,
    scheduler: bool = True,
    workers: Workers = True,
    errors_only: bool = False,
    *,
    api_url: str | None = None,
    token: str | None = None,
) -> Logs:
    """Output of the scheduler and of each worker by name, of an open or ended cluster: like `Cluster.get_logs`,
    without an object's messages. `errors_only`: only of failed instances, and of those whose Dask process
    failed. `workers` is as for `get_logs`.

    Examples
    --------
    >>> print(ropewalk.cluster_logs(12)["Scheduler"])
    """
    number = _checked(cluster_id)
    api = connect(api_url, token, workspace_name(workspace, account))
    view = cast(ClusterView, api.request("GET", f"/v1/clusters/{number}"))
    instances = instances_of(api, view)
    lines = cast("list[LogLine]", list(api.stream(f"/v1/clusters/{number}/logs")))
    heads = {one["id"] for one in instances if one["role"] == "head"}
    check_named(view["name"], heads, instances, lines, workers)
    is_chosen = is_wanted(view["name"], heads, instances, scheduler=scheduler, workers=workers)
    failed = {one["id"] for one in instances if one["state"] == "error" or _has_failed(one)}
    chosen = chosen_lines(lines, lambda id: is_chosen(id) and (id in failed or not errors_only), None)
    return Logs(grouped(view["name"], heads, chosen))


def number_of(api: ClientApi, cluster: int | str) -> int:
    """The number of a cluster, given by its number, or by its name while it is open. Digits are always a number."""
    if isinstance(cluster, bool) or not isinstance(cluster, (int, str)):
        raise TypeError(f"cluster is {cluster!r}: give its number or its name")
    return int(cluster) if isinstance(cluster, int) or cluster.isdecimal() else _number_named(api, cluster)


def _number_named(api: ClientApi, name: str, **filters: str) -> int:
    found = pages(api, "/v1/clusters", 1, {"name": name, "open": "true", **filters})
    if not found:
        hint = "An ended one has released its name: ropewalk.list_clusters() shows it."
        raise RopewalkError(f"No open cluster has the name {name}.", code="NOT_FOUND", field="name", hint=hint, status=404)
    return int(found[0]["number"])


def instances_of(api: ClientApi, view: ClusterView) -> Sequence[Instance]:
    """For an ended cluster, the instances at its end, because its view has none."""
    ended_at = view.get("endedAt")
    if ended_at is None:
        return view["instances"]
    reason = view["reason"]
    at = ended_at if reason is None else reason.get("at", ended_at)
    past = cast(PastCluster, api.request("GET", past_path(f"/v1/clusters/{view['number']}", at)))
    return [
        {
            "id": one["id"],
            "role": one["role"],
            "state": one["state"],
            "process": None
            if one["process"] is None
            else {"name": _process_name(view["name"], one), "state": one["process"], "stage": ""},
        }
        for one in past["instances"]
    ]


def _process_name(cluster: str, instance: PastInstance) -> str:
    return "scheduler" if instance["role"] == "head" else worker_name(cluster, instance["id"])


def _has_failed(instance: Instance) -> bool:
    return instance["process"] is not None and instance["process"]["state"] == "error"


def _checked(cluster_id: int) -> int:
    if isinstance(cluster_id, bool) or not isinstance(cluster_id, int):
        raise TypeError(f"cluster_id is {cluster_id!r}: give the number of a cluster; ropewalk.list_clusters() shows it as id")
    return cluster_id

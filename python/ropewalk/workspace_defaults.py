"""Defaults of the workspace: the place of its clusters and jobs, and access to them, unless a request sets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config
from ropewalk.machines import SpotPolicy, cluster_fields
from ropewalk.workspaces import refuse_other, workspace_name


def set_backend_options(
    backend_options: Mapping[str, Any] | None = None,
    *,
    provider: str | None = None,
    region: str | None = None,
    zone: str | None = None,
    spot_policy: SpotPolicy | None = None,
    allow_cross_zone: bool | None = None,
    allow_ssh: bool | None = None,
    allow_ssh_from: str | None = None,
    allow_ingress_from: str | None = None,
    instance_credentials: bool | None = None,
    workspace: str | None = None,
    account: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> dict[str, Any]:
    """Replaces the workspace's defaults for clusters and jobs, as an admin, and returns them.

    The arguments are those of `Cluster`; `backend_options` are Coiled's, like {"region_name": "us-west-2",
    "zone_name": "us-west-2b"}. Without an argument all defaults are removed. Raises RopewalkError FORBIDDEN for
    users who are not admins.
    """
    given = {
        "backend_options": backend_options,
        "provider": provider,
        "region": region,
        "zone": zone,
        "spot_policy": spot_policy,
        "allow_cross_zone": allow_cross_zone,
        "allow_ssh": allow_ssh,
        "allow_ssh_from": allow_ssh_from,
        "allow_ingress_from": allow_ingress_from,
        "instance_credentials": instance_credentials,
    }
    body = cluster_fields({name: value for name, value in given.items() if value is not None})
    if "openPorts" in body:
        raise ValueError("backend_options: a workspace has defaults for the ports 22 and 8786; open other ports for each cluster")
    api = ClientApi(load_config(api_url, token))
    wanted = workspace_name(workspace, account)
    if wanted is not None:
        refuse_other(api.request("GET", "/v1/whoami")["workspace"], wanted)
    answer: dict[str, Any] = api.request("PUT", "/v1/workspace/defaults", body)["defaults"]
    return answer

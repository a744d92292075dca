"""Dask clusters and batch jobs on your own VMs: `ropewalk.Cluster` is a distributed cluster whose processes Ropewalk runs;
`ropewalk.batch.run` submits a job."""

from typing import TYPE_CHECKING, NoReturn

from ropewalk import batch
from ropewalk.adaptive import AdaptiveScaling
from ropewalk.approvals import approvals, approve, reject
from ropewalk.budgets import budgets, remove_budget, set_budget
from ropewalk.cluster import Cluster
from ropewalk.clusters import cluster_logs, delete_cluster, list_clusters
from ropewalk.costs import costs
from ropewalk.elsewhere import missing as _missing
from ropewalk.environments import (
    create_software_environment,
    delete_software_environment,
    get_software_info,
    list_software_environments,
)
from ropewalk.errors import ClusterEndedError, ClusterFailedError, ClusterTimeoutError, JobTimeoutError, RopewalkError
from ropewalk.events import cluster_events
from ropewalk.functions import Function, function
from ropewalk.instance_types import list_instance_types
from ropewalk.notebook.notebook import Notebook, list_notebooks
from ropewalk.notifications import get_notifications
from ropewalk.past import cluster_at, cluster_costs
from ropewalk.plans import plan_cluster
from ropewalk.usage import list_core_usage
from ropewalk.workspace_defaults import set_backend_options

__version__ = "0.1.0"
__all__ = [
    "AdaptiveScaling",
    "Cluster",
    "ClusterEndedError",
    "ClusterFailedError",
    "ClusterTimeoutError",
    "Function",
    "JobTimeoutError",
    "Notebook",
    "RopewalkError",
    "__version__",
    "batch",
    "cluster_at",
    "cluster_costs",
    "cluster_events",
    "cluster_logs",
    "create_software_environment",
    "delete_cluster",
    "delete_software_environment",
    "function",
    "get_notifications",
    "get_software_info",
    "list_clusters",
    "list_core_usage",
    "list_instance_types",
    "list_notebooks",
    "list_software_environments",
    "costs",
    "plan_cluster",
    "set_backend_options",
    "approvals",
    "approve",
    "budgets",
    "reject",
    "remove_budget",
    "set_budget",
]

# With it, a type checker would accept every name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise _missing(name)

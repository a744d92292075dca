"""Dask clusters and batch jobs on your own VMs: `ropewalk.Cluster` is a distributed cluster whose processes Ropewalk runs;
`ropewalk.batch.run` submits a job."""

from ropewalk import batch
from ropewalk.cluster import Cluster
from ropewalk.errors import ClusterFailedError, ClusterTimeoutError, JobTimeoutError, RopewalkError
from ropewalk.plans import plan_cluster

__version__ = "0.1.0"
__all__ = [
    "Cluster",
    "ClusterFailedError",
    "ClusterTimeoutError",
    "JobTimeoutError",
    "RopewalkError",
    "__version__",
    "batch",
    "plan_cluster",
]

"""Dask clusters on your own machines: `ropewalk.Cluster` is a distributed cluster whose processes Ropewalk runs."""

from ropewalk.cluster import Cluster
from ropewalk.errors import ClusterFailedError, ClusterTimeoutError, RopewalkError

__version__ = "0.1.0"
__all__ = ["Cluster", "ClusterFailedError", "ClusterTimeoutError", "RopewalkError", "__version__"]

"""Package sync: gives a cluster or a job the Python environment of this process: the same Python version and packages, the
user's own projects as wheels, and the modules beside the program."""

from ropewalk.package_sync.options import PackageSyncOptions, read_options
from ropewalk.package_sync.sync import make_software

__all__ = ["PackageSyncOptions", "make_software", "read_options"]

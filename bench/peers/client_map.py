"""Runs a command this many times with client.map on a LocalCluster, and prints the seconds from the call to the
last result.

The cluster already exists, as Slurm's node does: its start is not counted.
"""

import subprocess
import sys
import time

import dask
from distributed import Client, LocalCluster


def run(_index, command):
    return subprocess.run(command, check=True).returncode


def main(slots, tasks, command):
    dask.config.set({"distributed.logging.distributed": "error"})
    with (
        LocalCluster(n_workers=1, threads_per_worker=slots, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(1)
        asked = time.monotonic()
        results = client.gather(client.map(run, range(tasks), command=command, pure=False))
        assert results == [0] * tasks
        print(time.monotonic() - asked)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])

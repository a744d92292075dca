"""The user's program of this bench: a Python that has imported Dask already and reads its commands, one JSON line each.

Importing Dask costs the same however a cluster is started, so that it is not part of any figure.
"""

import json
import sys
import time

import dask
from distributed import Client, LocalCluster, Security


def first_result(client, workers):
    """Waits for the workers, and computes something that needs both."""
    connected = time.time()
    client.wait_for_workers(workers)
    there = time.time()
    total = client.submit(sum, client.map(lambda x: x + 1, range(10), pure=False)).result()
    assert total == 55, total
    return {"connected": connected, "workers": there, "result": time.time()}


def connect(order):
    security = Security(
        tls_ca_file=order["ca"], tls_client_cert=order["certificate"], tls_client_key=order["key"], require_encryption=True
    )
    with Client(order["address"], security=security, timeout=30) as client:
        return first_result(client, order["workers"])


def local(order):
    asked = time.time()
    with LocalCluster(n_workers=order["workers"], dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        return {"asked": asked, **first_result(client, order["workers"])}


def main():
    dask.config.set({"distributed.logging.distributed": "error"})
    for line in sys.stdin:
        order = json.loads(line)
        answer = {"connect": connect, "local": local}[order["op"]](order)
        print(json.dumps({key: value * 1000 for key, value in answer.items()}), flush=True)


if __name__ == "__main__":
    main()

"""The user's program of the benches `dask` and `adaptive`: a Python that has already imported Dask and reads its
commands, one JSON line each.

Importing Dask costs the same however a cluster is started, so no figure includes it.
"""

import json
import sys
import time

import dask
from distributed import Client, LocalCluster, Security


def first_result(client, workers):
    """Waits for the workers, and runs a computation that needs both."""
    connected = time.time()
    client.wait_for_workers(workers)
    there = time.time()
    total = client.submit(sum, client.map(lambda x: x + 1, range(10), pure=False)).result()
    assert total == 55, total
    return {"connected": connected, "workers": there, "result": time.time()}


def open_client(order):
    security = Security(
        tls_ca_file=order["ca"], tls_client_cert=order["certificate"], tls_client_key=order["key"], require_encryption=True
    )
    return Client(order["address"], security=security, timeout=30)


def connect(order):
    with open_client(order) as client:
        return first_result(client, order["workers"])


def apply_load(client, order):
    """Starts at a random moment of the load interval."""
    client.wait_for_workers(1)
    time.sleep(order["afterSeconds"])
    applied = time.time()
    return applied, client.map(time.sleep, [1.5] * order["tasks"], pure=False)


def load(order):
    """Keeps the load until `unload`."""
    client = open_client(order)
    applied, futures = apply_load(client, order)
    held.append((client, futures))
    return {"applied": applied}


def unload(_):
    client, futures = held.pop()
    client.cancel(futures)
    client.close()
    return {}


def local_adaptive(order):
    """LocalCluster with its own adaptive scaling: until its plan has more workers."""
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        bounds = {"minimum": 1, "maximum": order["maximum"]}
        how = {"interval": order["interval"], "target_duration": order["targetDuration"], "wait_count": order["waitCount"]}
        cluster.adapt(**bounds, **how)
        applied, futures = apply_load(client, order)
        while len(cluster.plan) <= 1:
            time.sleep(0.002)
        changed = time.time()
        client.cancel(futures)
        return {"applied": applied, "changed": changed}


def local(order):
    asked = time.time()
    with LocalCluster(n_workers=order["workers"], dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        return {"asked": asked, **first_result(client, order["workers"])}


def main():
    dask.config.set({"distributed.logging.distributed": "error"})
    for line in sys.stdin:
        order = json.loads(line)
        answer = does[order["op"]](order)
        print(json.dumps({key: value * 1000 for key, value in answer.items()}), flush=True)


held = []
does = {"connect": connect, "local": local, "load": load, "unload": unload, "local_adaptive": local_adaptive}

if __name__ == "__main__":
    main()

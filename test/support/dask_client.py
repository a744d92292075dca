"""A Dask client that a test drives: one JSON object a line in, one out. It connects from its
environment alone."""

import json
import sys
import time

from distributed import Client, wait


def hold(client, futures, names):
    """Results that exist only on the named workers."""
    addresses = {w["name"]: a for a, w in client.scheduler_info(n_workers=-1)["workers"].items()}
    for name in names:
        future = client.submit(lambda n: f"held by {n}", name, key=f"held-{name}", workers=[addresses[name]], allow_other_workers=False)
        wait(future)
        futures[f"held-{name}"] = future
    return sorted(futures)


def computed(client):
    """How often each key was computed, by the scheduler's own record of transitions."""

    def count(dask_scheduler):
        counts = {}
        for entry in dask_scheduler.transition_log:
            key, start, finish = entry[0], entry[1], entry[2]
            if start == "processing" and finish == "memory":
                counts[str(key)] = counts.get(str(key), 0) + 1
        return counts

    return client.run_on_scheduler(count)


def slow(path, seconds):
    with open(path, "a") as file:
        file.write("begun\n")
    time.sleep(seconds)
    return "finished"


def main():
    client = Client(timeout=30)
    futures = {}
    say({"workers": len(client.scheduler_info(n_workers=-1)["workers"]), "address": client.scheduler.address})
    for line in sys.stdin:
        order = json.loads(line)
        op = order["op"]
        if op == "sum":
            say({"sum": client.submit(sum, client.map(lambda x: x * x, range(order["n"]), pure=False)).result()})
        elif op == "hold":
            say({"held": hold(client, futures, order["workers"])})
        elif op == "slow":
            addresses = {w["name"]: a for a, w in client.scheduler_info(n_workers=-1)["workers"].items()}
            futures["slow"] = client.submit(slow, order["path"], order["seconds"], key="slow", workers=[addresses[order["worker"]]], allow_other_workers=True)
            say({"submitted": True})
        elif op == "gather":
            say({"results": {key: future.result(timeout=60) for key, future in futures.items()}})
        elif op == "computed":
            say({"computed": computed(client)})
        elif op == "environ":
            say({"environ": client.run(lambda name: __import__("os").environ.get(name), order["name"])})
        elif op == "workers":
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            say({"workers": {w["name"]: {"nthreads": w["nthreads"], "memoryLimit": w["memory_limit"]} for w in workers}})
        elif op == "exit":
            client.run(lambda: __import__("os")._exit(7), workers=[w for w, i in client.scheduler_info(n_workers=-1)["workers"].items() if i["name"] == order["worker"]], wait=False)
            say({"sent": True})
        elif op == "close":
            break
    client.close()


def say(answer):
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

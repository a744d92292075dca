#!/usr/bin/env python3
# Computes the warmest and coldest day of all weather stations on a Dask cluster.
#
#   ropewalk cluster create --workers 2 --name weather --wait
#   ropewalk cluster exec 2 -- python examples/weather_dask.py examples/weather
#
# `cluster exec` sets the scheduler's address and the certificates in the environment, so a bare Client() connects.
import csv
import pathlib
import sys

from distributed import Client


def summarise(station: str, text: str) -> dict:
    """One year of one station. The file's text is an argument of the call, so workers need no access to local files."""
    days = list(csv.DictReader(text.splitlines()))
    return {
        "station": station,
        "days": len(days),
        "mean": sum(float(day["mean_c"]) for day in days) / len(days),
        "max": max((float(day["max_c"]), day["date"]) for day in days),
        "min": min((float(day["min_c"]), day["date"]) for day in days),
    }


def extremes(stations: list) -> dict:
    """The step that needs all results. It runs on the cluster, where the results are."""
    return {
        "days": sum(station["days"] for station in stations),
        "warmest": max((*station["max"], station["station"]) for station in stations),
        "coldest": min((*station["min"], station["station"]) for station in stations),
    }


if __name__ == "__main__":
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.csv"))
    with Client() as client:
        workers = client.scheduler_info()["workers"]
        print(f"connected to {client.scheduler.address} with {len(workers)} workers")
        stations = client.map(summarise, [path.stem for path in files], [path.read_text() for path in files])
        total = client.submit(extremes, stations).result()
    print(f"{len(files)} stations, {total['days']} days")
    print("warmest: {:.1f} C on {} at {}".format(*total["warmest"]))
    print("coldest: {:.1f} C on {} at {}".format(*total["coldest"]))

#!/usr/bin/env python3
# Summarises a year of one weather station. Each task of the batch job handles one file: task n the nth file of weather/.
#
#   ropewalk batch run --wait --array 0-11 --upload examples/weather examples/station_summary.py
#
# ROPEWALK name         weather
# ROPEWALK max-workers  4
# ROPEWALK retries      1
# ROPEWALK no-package-sync
import csv
import json
import os
import pathlib

task = int(os.environ["ROPEWALK_ARRAY_TASK_ID"])
files = sorted(path for path in pathlib.Path().rglob("*.csv"))
path = files[task]

with path.open(newline="", encoding="utf-8") as lines:
    days = list(csv.DictReader(lines))

warmest = max(days, key=lambda day: float(day["max_c"]))
coldest = min(days, key=lambda day: float(day["min_c"]))
print(
    json.dumps(
        {
            "station": path.stem,
            "days": len(days),
            "meanC": round(sum(float(day["mean_c"]) for day in days) / len(days), 2),
            "warmest": [warmest["date"], float(warmest["max_c"])],
            "coldest": [coldest["date"], float(coldest["min_c"])],
            "frostDays": sum(float(day["min_c"]) < 0 for day in days),
        }
    )
)

#!/usr/bin/env python3
"""Writes examples/weather/*.csv: one file per weather station, a year of daily temperatures each.

The data are synthetic: a seasonal curve per station plus noise from a fixed seed. The stations do not exist. Running this
again writes the same bytes on any machine, because only integer arithmetic decides the numbers.
"""

import datetime
import pathlib

YEAR = 2025

# name, yearly mean, half the difference between summer and winter, day of the warmest day; temperatures in tenths of a degree Celsius
STATIONS = [
    ("amber-bay", 112, 83, 205),
    ("birch-hollow", 64, 142, 200),
    ("cedar-point", 158, 71, 212),
    ("dune-field", 231, 96, 196),
    ("east-quay", 98, 88, 209),
    ("fern-ridge", 79, 117, 203),
    ("granite-pass", 12, 121, 207),
    ("harbour-light", 121, 62, 221),
    ("iron-lake", 41, 151, 199),
    ("juniper-mesa", 167, 128, 195),
    ("kelp-island", 104, 47, 226),
    ("lark-meadow", 93, 109, 202),
]

# One cosine period in 24 steps, in thousandths; days between two steps are interpolated.
COSINE = [1000, 966, 866, 707, 500, 259, 0, -259, -500, -707, -866, -966]
COSINE = COSINE + [-value for value in COSINE]


def season(day, warmest):
    """The seasonal curve at this day of the year, in thousandths: 1000 on the warmest day."""
    step, rest = divmod((day - warmest) % 365 * 24, 365)
    here, there = COSINE[step % 24], COSINE[(step + 1) % 24]
    return here + (there - here) * rest // 365


def noise(state):
    """A small linear congruential generator: the next state, and a number from -35 to 35."""
    state = (state * 1103515245 + 12345) % 2**31
    return state, (state >> 16) % 71 - 35


def tenths(value):
    sign = "-" if value < 0 else ""
    return f"{sign}{abs(value) // 10}.{abs(value) % 10}"


def main():
    folder = pathlib.Path(__file__).parent / "weather"
    folder.mkdir(exist_ok=True)
    for index, (name, mean, swing, warmest) in enumerate(STATIONS):
        state = 7919 * (index + 1)
        lines = ["date,min_c,mean_c,max_c"]
        for day in range(365):
            state, wobble = noise(state)
            state, spread = noise(state)
            middle = mean + swing * season(day, warmest) // 1000 + wobble
            half = 45 + spread // 2
            date = datetime.date(YEAR, 1, 1) + datetime.timedelta(days=day)
            lines.append(f"{date},{tenths(middle - half)},{tenths(middle)},{tenths(middle + half)}")
        (folder / f"{index:02d}-{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

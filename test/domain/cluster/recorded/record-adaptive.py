"""Records the decisions of distributed's own Adaptive for load curves: python record-adaptive.py >
adaptive.json

A curve is the scheduler's target at each interval. Workers arrive at once, and the highest numbers
are closed first.
"""

import asyncio
import json
import math
import random

import distributed
from distributed.deploy.adaptive_core import AdaptiveCore

WAIT_COUNT = 24
MINIMUM, MAXIMUM = 1, 50


class Recorded(AdaptiveCore):
    def __init__(self):
        super().__init__(minimum=MINIMUM, maximum=MAXIMUM, wait_count=WAIT_COUNT)
        self.workers = set(range(MINIMUM))
        self.wanted = 0

    @property
    def plan(self):
        return self.workers

    requested = observed = plan

    async def target(self):
        return self.wanted

    async def workers_to_close(self, target):
        return sorted(self.workers)[target:]

    async def scale_up(self, n):
        self.workers = set(range(n))

    async def scale_down(self, workers):
        self.workers -= set(workers)


def curves():
    chance = random.Random(17)
    yield "a burst", [40] * 10 + [0] * 60
    yield "a ramp down", [40] * 5 + [max(0, 40 - step) for step in range(80)] + [0] * 30
    yield "load that jumps", [chance.choice([2, 30]) for _ in range(150)] + [2] * 40
    yield "short dips", ([20] * 20 + [1] * 20) * 4 + [1] * 30
    yield "a day", [round(20 + 18 * math.sin(step / 12)) for step in range(300)]
    yield "noise", [chance.randrange(60) for _ in range(200)] + [chance.randrange(10) for _ in range(100)]


async def main():
    recorded = []
    for name, targets in curves():
        adaptive, workers = Recorded(), []
        for wanted in targets:
            adaptive.wanted = wanted
            await adaptive.adapt()
            workers.append(len(adaptive.workers))
        recorded.append({"name": name, "targets": targets, "workers": workers})
    bounds = {"minimum": MINIMUM, "maximum": MAXIMUM, "waitCount": WAIT_COUNT}
    print(json.dumps({"distributed": distributed.__version__, **bounds, "curves": recorded}))


asyncio.run(main())

// Adaptive scaling against the recorded decisions of distributed's own Adaptive under the same load (recorded/record-adaptive.py).
import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { adaptCluster, adaptNow } from '../../../domain/cluster/dask/adaptive.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { daskClusterSettings } from '../../builders/dask-settings.ts';

const recording = z.object({
  minimum: z.number(),
  maximum: z.number(),
  waitCount: z.number(),
  curves: z.array(z.object({ name: z.string(), targets: z.array(z.number()), workers: z.array(z.number()) })),
});
const { minimum, maximum, waitCount, curves } = recording.parse(
  JSON.parse(readFileSync(new URL('recorded/adaptive.json', import.meta.url), 'utf8')),
);
const intervalMs = 5_000;

describe('the number of workers is that of distributed at every interval', () => {
  it.each(curves)('of $name', ({ targets, workers }) => {
    const state = createClusterState(
      { number: 1, workspace: 'w', user: 'u', createdAtMs: 0 },
      daskClusterSettings(minimum + 1),
    );
    adaptCluster(state, { minimum, maximum, waitCount, intervalMs, targetDurationMs: 180_000 }, 0);
    const tasks = { processing: 0, waiting: 0, memory: 0, erred: 0, noWorker: 0 };
    const followed = targets.map((adaptiveTarget, interval) => {
      if (state.dask === null) return null;
      state.dask.report = { tasks, clients: 1, idleForMs: null, adaptiveTarget, workers: [] };
      adaptNow(state, state.dask, interval * intervalMs);
      return state.target - 1;
    });
    expect(followed).toEqual(workers);
  });
});

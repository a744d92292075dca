// Somebody scales by hand while adaptive scaling waits out its minute.
import { expect, it } from 'vitest';

import { createClusterState } from '../../../domain/cluster/create.ts';
import { adaptCluster, adaptNow } from '../../../domain/cluster/dask.ts';
import { scaleCluster } from '../../../domain/cluster/requests.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { fewerAfterMs } from '../../../domain/limits.ts';
import { daskClusterSettings } from '../../builders/dask-settings.ts';

it('forgets the most that Dask wished for before', () => {
  const state = createClusterState({ number: 1, workspace: 'w', user: 'u', createdAtMs: 0 }, daskClusterSettings(9));
  wish(state, 8);
  adaptCluster(state, { minimum: 0, maximum: 8 }, 0);
  wish(state, 5);
  follow(state, 1_000);
  wish(state, 1);
  follow(state, 2_000);
  scaleCluster(state, 4, 3_000);
  follow(state, 3_000);
  follow(state, 1_000 + fewerAfterMs);
  expect(state.target).toBe(4);
  follow(state, 3_000 + fewerAfterMs);
  expect(state.target).toBe(2);
});

function wish({ dask }: ClusterState, adaptiveTarget: number): void {
  const tasks = { processing: 0, waiting: 0, memory: 0, erred: 0, noWorker: 0 };
  if (dask !== null) dask.report = { tasks, clients: 1, idleForMs: null, adaptiveTarget, workers: [] };
}

function follow(state: ClusterState, nowMs: number): void {
  if (state.dask !== null) adaptNow(state, state.dask, nowMs);
}

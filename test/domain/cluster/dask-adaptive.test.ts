// A user scales a cluster while adaptive scaling is on.
import { expect, it } from 'vitest';

import { createClusterState } from '../../../domain/cluster/create.ts';
import { adaptCluster, adaptNow } from '../../../domain/cluster/dask/adaptive.ts';
import { scaleCluster } from '../../../domain/cluster/requests.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { between, daskClusterSettings, fewerAfterMs } from '../../builders/dask-settings.ts';

it('a scale request turns adaptive scaling off, and the event says so', () => {
  const state = aCluster();
  adaptCluster(state, between(0, 8), 0);
  askFor(state, 5);
  follow(state, 1_000);
  scaleCluster(state, 4, 3_000, { by: 'ada', seq: 1 });
  expect(state.dask).toMatchObject({ adaptive: null, fewer: [] });
  expect(state.events.at(-1)).toMatchObject({ text: 'asked for 4 instances; adaptive scaling is off', by: 'ada' });
  askFor(state, 8);
  follow(state, 3_000 + 2 * fewerAfterMs);
  expect(state.target).toBe(4);
});

it('adaptive scaling is turned off once: a repeated request changes nothing but its number', () => {
  const state = aCluster();
  adaptCluster(state, between(0, 8), 0, { by: 'ada', seq: 1 });
  scaleCluster(state, 4, 1_000, { by: 'ada', seq: 1 });
  const events = state.events.length;
  adaptCluster(state, null, 2_000, { by: 'ada', seq: 2 });
  expect(state.events).toHaveLength(events);
  expect(state.asked).toEqual({ scale: 1, adapt: 2 });
});

it('a scale request turns adaptive scaling off also when it asks for the current number', () => {
  const state = aCluster();
  adaptCluster(state, between(0, 8), 0);
  scaleCluster(state, state.target, 3_000);
  expect(state.dask?.adaptive).toBeNull();
  expect(state.events.at(-1)?.code).toBe('SCALE');
});

it('adaptive scaling goes on when the request is older than one that was followed', () => {
  const state = aCluster();
  scaleCluster(state, 5, 1_000, { by: 'ada', seq: 2 });
  adaptCluster(state, between(0, 8), 2_000);
  scaleCluster(state, 3, 3_000, { by: 'ada', seq: 1 });
  expect(state.dask?.adaptive).toEqual(between(0, 8));
});

const aCluster = (): ClusterState => {
  const state = createClusterState({ number: 1, workspace: 'w', user: 'u', createdAtMs: 0 }, daskClusterSettings(9));
  askFor(state, 8);
  return state;
};

function askFor({ dask }: ClusterState, adaptiveTarget: number): void {
  const tasks = { processing: 0, waiting: 0, memory: 0, erred: 0, noWorker: 0 };
  if (dask !== null) dask.report = { tasks, clients: 1, idleForMs: null, adaptiveTarget, workers: [] };
}

function follow(state: ClusterState, nowMs: number): void {
  if (state.dask !== null) adaptNow(state, state.dask, nowMs);
}

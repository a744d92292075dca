// The warning about a Dask cluster that has been idle for long: once for each idle period, with its cost, and without ending the cluster.
import { expect, it } from 'vitest';

import { createClusterState } from '../../../domain/cluster/create.ts';
import { idleWakes, idleWarningAfterMs, watchIdle } from '../../../domain/cluster/idle-warning.ts';
import { planCluster } from '../../../domain/cluster/plan.ts';
import { shownCluster } from '../../../domain/cluster/status.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { idleNotification } from '../../../domain/notifications/types.ts';
import { daskClusterSettings, daskSettings } from '../../builders/dask-settings.ts';

const hourMs = 3_600_000;

function cluster(idleTimeoutMs: number): ClusterState & { dask: NonNullable<ClusterState['dask']> } {
  const settings = daskClusterSettings(3, { ...daskSettings, idleTimeoutMs });
  const state = createClusterState({ number: 7, workspace: 'w', user: 'ada', createdAtMs: 0 }, settings);
  const { dask } = state;
  if (dask === null) throw new Error('no Dask');
  return Object.assign(state, { dask });
}
const warnings = ({ events }: ClusterState): string[] =>
  events.flatMap(({ code, text }) => (code === 'IDLE_WARNING' ? [text] : []));

it('comes once for each time without work, and is what lists show', () => {
  const state = cluster(48 * hourMs);
  watchIdle(state, hourMs);
  expect([warnings(state), idleWakes(state)]).toEqual([[], []]);
  state.dask.idleSinceMs = hourMs;
  watchIdle(state, hourMs + idleWarningAfterMs - 1);
  expect(warnings(state)).toEqual([]);
  expect(idleWakes(state)).toEqual([{ atMs: 9 * hourMs, what: 'warning of no work at' }]);
  const before = shownCluster(state).digest;
  watchIdle(state, 9 * hourMs);
  watchIdle(state, 20 * hourMs);
  expect([warnings(state), idleWakes(state)]).toEqual([['nothing was computed for 8 hours'], []]);
  expect(shownCluster(state).digest).not.toBe(before);
  state.dask.idleSinceMs = null;
  watchIdle(state, 21 * hourMs);
  state.dask.idleSinceMs = 22 * hourMs;
  watchIdle(state, 30 * hourMs);
  expect(warnings(state)).toHaveLength(2);
});

it('does not come to a cluster that ends before, whose timers stay as they are', () => {
  const state = cluster(8 * hourMs);
  state.dask.idleSinceMs = 0;
  expect(idleWakes(state)).toEqual([]);
  expect(planCluster(state, 1).wakeFor).not.toContain('warning');
});

it('is notified once for each cluster, with the command that ends it', () => {
  expect(idleNotification({ number: 7, workspace: 'w', name: 'c', user: 'ada' }, 0)).toMatchObject({
    ...{ type: 'cluster.idle', object: 'cluster/7', once: 'cluster/7 idle' },
    text: 'Cluster 7 (c) has computed nothing since 1970-01-01 00:00:00 UTC, and goes on: ropewalk cluster stop 7',
  });
});

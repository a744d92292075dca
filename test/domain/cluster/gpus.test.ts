// Idle GPUs of a cluster: its view, its events, its explanation, and the notification.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport, hasChanges, type Report } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { clusterGpus } from '../../../domain/cluster/instance/gpus.ts';
import { registerTimeoutMs } from '../../../domain/cluster/limits.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import { shownCluster } from '../../../domain/cluster/status.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { explainGpus } from '../../../domain/cluster/why.ts';
import { idleGpuNotification } from '../../../domain/notifications/types.ts';

const minute = 60_000;

/** With registered instances i-0, i-1... */
function cluster(instances: number): ClusterState {
  const settings = {
    ...{ name: 'c', job: 7, instances, provider: 'local', providerQueue: 'local/a', instanceVcpus: 1 },
    ...{ registerTimeoutMs, dask: null },
  };
  const state = createClusterState({ number: 7, workspace: 'default', user: 'u', createdAtMs: 0 }, settings);
  for (let { decisions } = planCluster(state, 0); decisions.length > 0; { decisions } = planCluster(state, 0)) {
    for (const decision of decisions) {
      intend(state, decision, 0);
      if (decision.kind !== 'launch') continue;
      const launched = decision.slots.map(({ slot }) => ({ id: `i-${slot}`, slot, offer: 'local', zone: 'here' }));
      applyLaunch(state, decision.seq, { launched, failures: [] }, 0);
    }
  }
  for (const { id } of state.instances) report(state, id, { kind: 'register' }, 0);
  return state;
}

const report = (state: ClusterState, instance: string, more: Partial<Report>, nowMs: number): void => {
  const said: Report = { instance, bootId: instance, kind: 'alive', address: 'a', ...more };
  expect([said.kind === 'register' || hasChanges(said), applyReport(state, said, nowMs)]).toEqual([true, 'accepted']);
};
const gpus = (state: ClusterState, id: string, total: number, idle: number, nowMs: number): void =>
  report(state, id, { gpus: { total, idle, idleForMs: idle === 0 ? 0 : 15 * minute } }, nowMs);
const events = (state: ClusterState): string[] =>
  state.events.filter(({ code }) => /GPU/.test(code)).map(({ code, text }) => `${code}: ${text}`);

describe('GPUs that do nothing', () => {
  it('are counted over the instances that have reported theirs', () => {
    const state = cluster(3);
    expect(clusterGpus(state)).toBeNull();
    gpus(state, 'i-1', 4, 0, minute);
    expect(clusterGpus(state)).toEqual({ total: 4, idle: 0, sinceMs: null, instances: [] });
    expect(events(state)).toEqual([]);
    gpus(state, 'i-2', 4, 1, 20 * minute);
    gpus(state, 'i-1', 4, 2, 30 * minute);
    expect(clusterGpus(state)).toEqual({ total: 8, idle: 3, sinceMs: 5 * minute, instances: ['i-1', 'i-2'] });
  });

  it('make an event, another one when they are more a while later, and one when none is left', () => {
    const state = cluster(3);
    gpus(state, 'i-1', 1, 1, 20 * minute);
    gpus(state, 'i-2', 1, 1, 21 * minute);
    expect(events(state)).toEqual(['IDLE_GPU: 1 of 1 GPU has done nothing for 15 minutes (i-1)']);
    gpus(state, 'i-0', 2, 2, 40 * minute);
    expect(events(state).at(-1)).toBe('IDLE_GPU: 4 of 4 GPUs have done nothing for 35 minutes (i-0, i-1, i-2)');
    // A smaller number of GPUs causes none.
    gpus(state, 'i-0', 2, 0, 80 * minute);
    gpus(state, 'i-1', 1, 0, 81 * minute);
    expect(events(state)).toHaveLength(2);
    gpus(state, 'i-2', 1, 0, 82 * minute);
    expect(events(state).at(-1)).toBe('GPU_IN_USE: no GPU is idle any more');
    gpus(state, 'i-2', 1, 1, 83 * minute);
    expect(events(state)).toHaveLength(4);
  });

  it('are a change that lists show, so that the view and its notification are written', () => {
    const state = cluster(2);
    gpus(state, 'i-1', 2, 0, minute);
    const before = shownCluster(state).digest;
    gpus(state, 'i-1', 2, 1, 20 * minute);
    expect(shownCluster(state).digest).not.toBe(before);
    gpus(state, 'i-1', 2, 0, 21 * minute);
    expect(shownCluster(state).digest).toBe(before);
  });

  it('go with their instance', () => {
    const state = cluster(2);
    gpus(state, 'i-1', 2, 2, 20 * minute);
    report(state, 'i-1', { kind: 'leaving', text: 'done' }, 21 * minute);
    expect(clusterGpus(state)).toBeNull();
  });

  it('are explained with their cost, and notified once for each cluster', () => {
    expect(explainGpus({ gpus: { total: 2, idle: 0, sinceMs: null }, events: [] })).toEqual([]);
    expect(explainGpus({ gpus: null, events: [] })).toEqual([]);
    expect(explainGpus({ gpus: { total: 2, idle: 1, sinceMs: 0 }, events: [] })).toMatchObject([
      {
        about: 'instanceType',
        text: '1 of 2 GPUs has done nothing since 1970-01-01 00:00:00 UTC: does the code use CUDA? Instances without GPUs cost less.',
      },
    ]);
    const subject = { number: 7, workspace: 'w', name: 'c', user: 'ada' };
    expect(idleGpuNotification(subject, { idle: 2, total: 4, sinceMs: 0 })).toMatchObject({
      ...{ type: 'cluster.idle_gpu', object: 'cluster/7', once: 'cluster/7 idle_gpu' },
      text: 'Cluster 7 (c) pays for GPUs that it does not use: 2 of 4 GPUs have done nothing for long',
      data: { cluster: 7, idle: 2, total: 4, idleSince: '1970-01-01T00:00:00.000Z' },
    });
  });
});

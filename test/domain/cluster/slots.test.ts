// Slots with a streak of failed instances: their pauses, when they are given up, and that good work ends the streak. On a cloud
// the pauses are long enough to outlast half an hour of failures.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport, applyTerminated } from '../../../domain/cluster/apply.ts';
import { applyInspection } from '../../../domain/cluster/instance/inspect.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { cloudRegisterTimeoutMs, cloudSlotPausesMs, slotFailureWindowMs } from '../../../domain/cluster/limits.ts';
import { failuresOf } from '../../builders/slot-failures.ts';

const machines = {
  workerTypes: ['m6i.large'],
  headTypes: ['m6i.large'],
  architecture: 'x86_64' as const,
  spotPolicy: 'on-demand' as const,
  region: 'r',
  zones: ['a'],
  allowCrossZone: false,
  diskGib: 30,
};

function cluster(): ClusterState {
  const settings = {
    name: 'c',
    job: null,
    instances: 1,
    provider: 'aws',
    providerQueue: 'aws',
    instanceVcpus: 2,
    registerTimeoutMs: cloudRegisterTimeoutMs,
    machines,
    dask: null,
  };
  return createClusterState({ number: 1, workspace: 'default', user: 'u', createdAtMs: 0 }, settings);
}

/** Carries out the plan with instances that live this long after they registered, or that never register. */
function live(
  state: ClusterState,
  untilMs: number,
  livesMs: number | null,
): { launchedAtMs: number[]; endedAtMs: number } {
  const launchedAtMs: number[] = [];
  let nowMs = 0;
  while (nowMs < untilMs && state.stopRequested === null) {
    const plan = planCluster(state, nowMs);
    for (const decision of plan.decisions) {
      intend(state, decision, nowMs);
      if (decision.kind === 'terminate') applyTerminated(state, decision.ids, nowMs);
      if (decision.kind === 'inspect') {
        const seen = decision.ids.map((id) => ({ id, state: 'alive' as const }));
        applyInspection(state, { seen, linkWorks: true, heard: [], listeningMs: 3_600_000 }, nowMs);
      }
      if (decision.kind !== 'launch') continue;
      launchedAtMs.push(nowMs);
      const id = `i-${launchedAtMs.length}`;
      const launched = [{ id, slot: 0, offer: 'm6i.large', zone: 'a' }];
      applyLaunch(state, decision.seq, { launched, failures: [] }, nowMs);
      if (livesMs === null) continue;
      const said = { instance: id, bootId: id, address: 'a' };
      applyReport(state, { ...said, kind: 'register' }, nowMs);
      nowMs += livesMs;
      applyReport(state, { ...said, kind: 'leaving' }, nowMs);
    }
    if (plan.decisions.length === 0) nowMs = plan.wakeAtMs ?? untilMs;
  }
  return { launchedAtMs, endedAtMs: nowMs };
}

const hourMs = 3_600_000;

describe('a slot on a cloud', () => {
  it('whose instances die at once waits longer and longer, and is given up after the fifth', () => {
    const state = cluster();
    const { launchedAtMs } = live(state, 2 * hourMs, 0);
    const sums = [0, ...cloudSlotPausesMs.map((_, at) => cloudSlotPausesMs.slice(0, at + 1).reduce((a, b) => a + b))];
    expect(launchedAtMs).toEqual(sums);
    expect(launchedAtMs.filter((atMs) => atMs <= hourMs / 2)).toHaveLength(4);
    expect(state.stopRequested).toMatchObject({ code: 'NO_INSTANCES' });
  });

  it('that is given up ends a cluster that requires all instances, although its other instances live', () => {
    const state = cluster();
    state.settings = { ...state.settings, job: 1, instances: 2, allOrNothing: true };
    state.target = 2;
    state.slots[1] = { generations: 5, givenUp: { code: 'X', text: 'no', atMs: 0 } };
    const [decision] = planCluster(state, 0).decisions.filter(({ kind }) => kind === 'giveUp');
    expect(decision).toMatchObject({ code: 'NOT_ALL_INSTANCES' });
    const partly = { ...state, settings: { ...state.settings, allOrNothing: undefined } };
    expect(planCluster(partly, 0).decisions.map(({ kind }) => kind)).toEqual(['launch']);
    const afterStart = { ...state, readyAtMs: 1 };
    expect(planCluster(afterStart, 0).decisions.map(({ kind }) => kind)).toEqual(['launch']);
  });

  it('whose instances never register costs four of them, and the end says what to check', () => {
    const state = cluster();
    const { launchedAtMs } = live(state, 4 * hourMs, null);
    expect(launchedAtMs).toHaveLength(4);
    expect(state.stopRequested?.code).toBe('NO_INSTANCES');
    expect(state.stopRequested?.text).toMatch(/4 x NEVER_REGISTERED: .*NAT gateway.*security group.*instance profile/);
  });

  it('whose instances work for a while first is filled for as long as it is wanted, and at once', () => {
    const state = cluster();
    const { launchedAtMs } = live(state, 4 * hourMs, slotFailureWindowMs);
    expect(launchedAtMs).toHaveLength((4 * hourMs) / slotFailureWindowMs);
    expect([state.stopRequested, failuresOf(state, 0)]).toEqual([null, 1]);
  });
});

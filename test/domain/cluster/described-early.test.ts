// Instances that end before their agents register: the cluster queries the cloud long before the register timeout, and passes its
// reason on.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport, applyTerminated } from '../../../domain/cluster/apply.ts';
import { applyInspection, suspectInstances } from '../../../domain/cluster/instance/inspect.ts';
import type { ProviderSightings } from '../../../domain/cluster/instance/suspicion.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { intend, planCluster, type Decision } from '../../../domain/cluster/plan.ts';
import { inspectAgain } from '../../../domain/cluster/resume.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import {
  cloudRegisterTimeoutMs,
  describeUnregisteredAfterMs,
  maxSlotFailures,
  registrationRecheckMs,
} from '../../../domain/cluster/limits.ts';

const machines = {
  ...{ workerTypes: ['m6i.large'], headTypes: ['m6i.large'], architecture: 'x86_64' as const },
  ...{ spotPolicy: 'on-demand' as const, region: 'r', zones: ['a'], allowCrossZone: false, diskGib: 30 },
};

type Seen = Omit<ProviderSightings['seen'][number], 'id'>;

const why = 'EC2: Server.InternalError';

function createState(registerTimeoutMs = cloudRegisterTimeoutMs): ClusterState {
  const settings = {
    ...{ name: 'c', job: 7, instances: 2, provider: 'aws', providerQueue: 'aws', instanceVcpus: 2 },
    ...{ registerTimeoutMs, machines, dask: null },
  };
  return createClusterState({ number: 7, workspace: 'default', user: 'u', createdAtMs: 0 }, settings);
}

/** Carries out the decisions at that time; every inspection has the same answer. */
function pass(state: ClusterState, nowMs: number, seen: Seen): Decision['kind'][] {
  const kinds: Decision['kind'][] = [];
  for (let { decisions } = planCluster(state, nowMs); decisions.length > 0; { decisions } = planCluster(state, nowMs)) {
    for (const decision of decisions) {
      kinds.push(decision.kind);
      intend(state, decision, nowMs);
      if (decision.kind === 'terminate') applyTerminated(state, decision.ids, nowMs);
      if (decision.kind === 'inspect') inspected(state, decision.ids, seen, nowMs);
      if (decision.kind === 'launch') {
        const places = decision.slots.map(({ slot, generation }) => ({ id: `i-${slot}-${generation}`, slot }));
        const launched = places.map((each) => ({ ...each, offer: 'm6i.large', zone: 'a' }));
        applyLaunch(state, decision.seq, { launched, failures: [] }, nowMs);
      }
    }
  }
  return kinds;
}

function inspected(state: ClusterState, ids: string[], seen: Seen, nowMs: number): void {
  const inspection = { seen: ids.map((id) => ({ id, ...seen })), linkWorks: true, heard: [], listeningMs: 3_600_000 };
  applyInspection(state, inspection, nowMs);
}

const lives: Seen = { state: 'alive' };
const ended: Seen = { state: 'gone', why };

/** Every wake-up of the plan until the condition holds. */
function wakesUntil(state: ClusterState, seen: Seen, hasEnded: (nowMs: number) => boolean): number[] {
  const wakes: number[] = [];
  for (let nowMs = 0; !hasEnded(nowMs);) {
    pass(state, nowMs, seen);
    const { wakeAtMs } = planCluster(state, nowMs);
    if (wakeAtMs === null) break;
    nowMs = wakeAtMs;
    wakes.push(nowMs);
  }
  return wakes;
}

describe('an instance that has not registered', () => {
  it('is asked about after a minute, each time its age has doubled, and at its register timeout', () => {
    const state = createState();
    const wakes = wakesUntil(state, lives, (nowMs) => nowMs >= cloudRegisterTimeoutMs);
    expect(wakes.map((ms) => ms / describeUnregisteredAfterMs)).toEqual([1, 2, 4, 8, 10]);
    expect(state.failures).toEqual({});
  });

  it('says on its timer what is due', () => {
    const state = createState();
    pass(state, 0, lives);
    expect(planCluster(state, 0).wakeFor).toBe('the cloud is asked about 2 starting instances at');
    pass(state, 480_000, lives);
    expect(planCluster(state, 480_000).wakeFor).toBe('2 instances must register by');
  });

  it('is not asked about early where its register timeout is shorter than a minute', () => {
    const state = createState(30_000);
    pass(state, 0, lives);
    expect(planCluster(state, 0).wakeAtMs).toBe(30_000);
  });

  it('is asked about only by checks that count once its time to register has passed', () => {
    const state = createState();
    wakesUntil(state, lives, (nowMs) => nowMs >= cloudRegisterTimeoutMs);
    expect(pass(state, cloudRegisterTimeoutMs, lives)).toEqual(['inspect']);
    expect(state.instances).toMatchObject([{ lateness: { checks: 1 } }, { lateness: { checks: 1 } }]);
    expect(planCluster(state, cloudRegisterTimeoutMs).wakeAtMs).toBe(cloudRegisterTimeoutMs + registrationRecheckMs);
  });

  it('keeps its first check when its job suspects it before', () => {
    const state = createState();
    pass(state, 0, lives);
    suspectInstances(state, [{ instance: 'i-1-1', heardAtMs: 0 }], 1_000);
    expect(pass(state, 1_000, lives)).toEqual(['inspect']);
    expect(planCluster(state, 1_000).wakeAtMs).toBe(describeUnregisteredAfterMs);
  });

  it('is asked about again by the next run when the workflow continues as new meanwhile', () => {
    const state = createState();
    pass(state, 0, lives);
    for (const decision of planCluster(state, 60_000).decisions) intend(state, decision, 60_000);
    expect(planCluster(state, 60_000).decisions).toEqual([]);
    inspectAgain(state);
    expect(planCluster(state, 60_001).decisions).toMatchObject([{ kind: 'inspect', ids: ['i-0-1', 'i-1-1'] }]);
  });

  it('registers while its cloud is asked', () => {
    const state = createState();
    pass(state, 0, lives);
    for (const decision of planCluster(state, 60_000).decisions) intend(state, decision, 60_000);
    for (const instance of ['i-0-1', 'i-1-1']) {
      const report = { instance, bootId: 'b', kind: 'register', address: 'a' } as const;
      expect(applyReport(state, report, 60_001)).toBe('accepted');
    }
    inspected(state, ['i-0-1', 'i-1-1'], lives, 60_002);
    expect(state.instances.map((each) => each.state)).toEqual(['ready', 'ready']);
  });
});

describe('an instance that ended before its agent registered', () => {
  it('is replaced a minute after its launch, with the reason of its cloud', () => {
    const state = createState();
    pass(state, 0, lives);
    expect(pass(state, describeUnregisteredAfterMs, ended)).toEqual(['inspect', 'notifyJob', 'terminate', 'launch']);
    const text = `the instance ended before its agent registered: ${why}`;
    expect(state.failures).toEqual({ ENDED_WHILE_STARTING: { count: 2, text, lastAtMs: describeUnregisteredAfterMs } });
    expect(state.events.map((each) => each.text)).toContain(`instance i-1-1: ${text}`);
  });

  it('is said to have ended also where its cloud knows no reason', () => {
    const state = createState();
    pass(state, 0, lives);
    pass(state, 60_000, { state: 'gone' });
    expect(state.failures['ENDED_WHILE_STARTING']?.text).toBe('the instance ended before its agent registered');
  });

  it('ends its cluster with that reason after five in a row, one launched at a time, and outlives half an hour', () => {
    const state = createState();
    const wakes = wakesUntil(state, ended, () => state.stopRequested !== null);
    expect(state.launched).toBe(2 + maxSlotFailures - 1);
    expect(wakes.at(-1)).toBeGreaterThan(1_800_000);
    expect(state.stopRequested?.text).toContain(`6 x ENDED_WHILE_STARTING: the instance ended before its agent`);
    expect(state.failures['NEVER_REGISTERED']).toBeUndefined();
  });

  it('is not the reason of one that lives and never registers', () => {
    const state = createState();
    pass(state, 0, lives);
    pass(state, 60_000, ended);
    wakesUntil(state, lives, () => state.stopRequested !== null);
    expect(state.stopRequested?.text).toMatch(/3 x NEVER_REGISTERED: .*; 2 x ENDED_WHILE_STARTING/);
  });

  it('was terminated by request: the words of its cloud are passed on, and its slot has not failed', () => {
    const state = createState();
    pass(state, 0, lives);
    pass(state, 60_000, { state: 'gone', wasOrdered: true, why: 'EC2: Server.SpotInstanceTermination' });
    expect(state.failures).toEqual({});
    expect(state.events.map(({ text }) => text)).toContain(
      'instance i-1-1: it was terminated by request: EC2: Server.SpotInstanceTermination',
    );
  });
});

// Instances that leave in order, interrupted or released: the work they finish, the changed history of their slot, and the slot
// that a replacement fills.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport, applyTerminated, type Report } from '../../../domain/cluster/apply.ts';
import { applyInspection, suspectInstances } from '../../../domain/cluster/instance/inspect.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { scaleCluster } from '../../../domain/cluster/requests.ts';
import { releaseInstances } from '../../../domain/cluster/slot/release.ts';
import { type Decision, intend, planCluster } from '../../../domain/cluster/plan.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { fillableAtMs } from '../../../domain/cluster/slot/slots.ts';
import { slotFailureWindowMs } from '../../../domain/cluster/limits.ts';
import { createJobState } from '../../../domain/job/create.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import type { ExchangeItem } from '../../../domain/job/protocol.ts';
import { releaseSpareInstances } from '../../../domain/job/shrink.ts';
import { failuresOf } from '../../builders/slot-failures.ts';

const minuteMs = 60_000;
const provider = { provider: 'aws', providerQueue: 'aws', instanceVcpus: 2 };

function jobCluster(instances: number): ClusterState {
  const settings = { ...provider, name: 'c', job: 7, instances, registerTimeoutMs: 10 * minuteMs, dask: null };
  return createClusterState({ number: 7, workspace: 'default', user: 'u', createdAtMs: 0 }, settings);
}

function daskCluster(instances: number): ClusterState {
  const limits = { idleTimeoutMs: 60 * minuteMs, noClientTimeoutMs: null, startTimeoutMs: 10 * minuteMs };
  const dask = {
    ...limits,
    maxLifetimeMs: null,
    drainTimeoutMs: 5 * minuteMs,
    aliveEveryMs: minuteMs,
    unresponsiveTimeoutMs: 20 * minuteMs,
  };
  const secrets = { privateToCreator: false, adaptive: null, bundleRef: 'b', caRef: 'c' };
  const settings = { ...provider, name: 'c', job: null, instances, registerTimeoutMs: 10 * minuteMs };
  return createClusterState(
    { number: 8, workspace: 'default', user: 'u', createdAtMs: 0 },
    { ...settings, dask: { ...dask, ...secrets } },
  );
}

function processOf(slot: number, state: 'started' | 'error', code = 'ENVIRONMENT_FAILED'): Partial<Report> {
  const reason = state === 'error' ? { code, text: 'no package index' } : null;
  const name = slot === 0 ? 'scheduler' : `w${slot}`;
  return { process: { state, name, stage: 'dask', address: reason === null ? `tls://${name}` : null, reason } };
}

/** Carries out all decisions, with a cloud of unlimited capacity, until the plan is empty. */
function act(state: ClusterState, nowMs: number): Decision[] {
  const done: Decision[] = [];
  for (let plan = planCluster(state, nowMs); plan.decisions.length > 0; plan = planCluster(state, nowMs)) {
    for (const decision of plan.decisions) {
      intend(state, decision, nowMs);
      done.push(decision);
      if (decision.kind === 'terminate') applyTerminated(state, decision.ids, nowMs);
      if (decision.kind !== 'launch') continue;
      const launched = decision.slots.map(({ slot, generation }) => ({
        ...{ id: `i-${slot}-${generation}`, slot, offer: 'm6i.large', zone: 'a' },
      }));
      applyLaunch(state, decision.seq, { launched, failures: [] }, nowMs);
    }
  }
  return done;
}

const say = (state: ClusterState, id: string, nowMs: number, said: Partial<Report>): void =>
  void applyReport(state, { instance: id, bootId: id, kind: 'alive', address: 'a', ...said }, nowMs);

const interruptionAt = (atMs: number): Partial<Report> => ({
  interruption: { kind: 'terminate', at: new Date(atMs).toISOString() },
});

const ended = (decisions: Decision[]): string[] =>
  decisions.flatMap((decision) => (decision.kind === 'terminate' ? decision.ids : []));

const notified = (decisions: Decision[]): string[] =>
  decisions.flatMap((decision) => (decision.kind === 'notifyJob' ? decision.lost.map(({ instance }) => instance) : []));

describe('an interrupted worker of a job', () => {
  it('works on when its idle successor is released', () => {
    const settings = { name: 'j', command: 'c', taskCount: 2, array: '0-1', instances: 2, retries: 0 };
    const job = createJobState(
      { number: 7, workspace: 'default', submittedAtMs: 0 },
      { ...settings, ...provider, leaseMs: 90_000, jobTimeoutMs: null },
    );
    const ask = (instance: string, item: Partial<ExchangeItem>, nowMs: number): number[] => {
      const whole = { instance, claim: 1, want: 1, running: [], results: [], head: false, ...item };
      return exchange(job, whole, nowMs, (index) => index).grants.map(({ lease }) => lease);
    };
    const state = jobCluster(2);
    act(state, 0);
    for (const id of ['i-0-1', 'i-1-1']) say(state, id, minuteMs, { kind: 'register' });
    ask('i-0-1', { head: true }, minuteMs);
    const running = ask('i-1-1', {}, minuteMs);
    const noticeMs = 60 * minuteMs;
    say(state, 'i-1-1', noticeMs, interruptionAt(noticeMs + 2 * minuteMs));
    act(state, noticeMs);
    const successorMs = noticeMs + 45_000;
    say(state, 'i-1-2', successorMs, { kind: 'register' });
    ask('i-1-2', {}, successorMs);
    ask('i-1-1', { want: 0, running }, successorMs);
    const spare = releaseSpareInstances(job, successorMs);
    expect([spare, job.leases.map(({ instance }) => instance)]).toEqual([['i-1-2'], ['i-0-1', 'i-1-1']]);

    releaseInstances(state, spare, successorMs);
    expect(ended(act(state, successorMs))).toEqual(['i-1-2']);
    expect(state.instances.map(({ id }) => id)).toEqual(['i-0-1', 'i-1-1']);

    const gone = act(state, noticeMs + 3 * minuteMs);
    expect([ended(gone), notified(gone)]).toEqual([['i-1-1'], ['i-1-1']]);
  });

  it('and one that is terminated as extra: the job hears of both, and of none that never registered', () => {
    const state = jobCluster(3);
    act(state, 0);
    for (const id of ['i-0-1', 'i-1-1']) say(state, id, minuteMs, { kind: 'register' });
    state.target = 1;
    const gone = act(state, minuteMs);
    expect([ended(gone), notified(gone)]).toEqual([['i-1-1', 'i-2-1'], ['i-1-1']]);
  });
});

/** A cluster whose slot 1 has failed so often that one more failure ends it, and the slot's current instance. */
function afterFourFailures(): { state: ClusterState; good: string; nowMs: number } {
  const state = jobCluster(2);
  act(state, 0);
  say(state, 'i-0-1', 0, { kind: 'register' });
  let nowMs = 0;
  for (let nth = 1; nth <= 4; nth += 1) {
    const id = `i-1-${nth}`;
    say(state, id, nowMs, { kind: 'register' });
    say(state, id, nowMs, { kind: 'leaving' });
    act(state, nowMs);
    nowMs = planCluster(state, nowMs).wakeAtMs ?? nowMs;
    act(state, nowMs);
  }
  expect(state.slots[1]).toMatchObject({ failures: 4, givenUp: null });
  say(state, 'i-1-5', nowMs, { kind: 'register' });
  return { state, good: 'i-1-5', nowMs };
}

const dieAtOnce = (state: ClusterState, id: string, nowMs: number): void => {
  say(state, id, nowMs, { kind: 'register' });
  say(state, id, nowMs, { kind: 'leaving' });
};

describe('one that works for a while and leaves in order', () => {
  it('ends the failure streak of its slot when its cloud interrupts it', () => {
    const { state, good, nowMs } = afterFourFailures();
    const goneMs = nowMs + slotFailureWindowMs;
    say(state, good, goneMs - minuteMs, interruptionAt(goneMs));
    act(state, goneMs - minuteMs);
    say(state, good, goneMs, { kind: 'leaving' });
    act(state, goneMs);
    dieAtOnce(state, 'i-1-6', goneMs + 1);
    expect(state.slots[1]).toMatchObject({ failures: 1, givenUp: null });
  });

  it('ends it as well when its successor fails before it has gone, and when it never says that it goes', () => {
    const { state, good, nowMs } = afterFourFailures();
    const noticeMs = nowMs + slotFailureWindowMs;
    say(state, good, noticeMs, interruptionAt(noticeMs + minuteMs));
    act(state, noticeMs);
    dieAtOnce(state, 'i-1-6', noticeMs + 1);
    expect(state.slots[1]).toMatchObject({ failures: 1, givenUp: null });
    // A failure after the instance began to work is not offset by its work.
    expect(ended(act(state, noticeMs + 2 * minuteMs))).toContain(good);
    expect(state.slots[1]).toMatchObject({ failures: 1 });
  });

  it('ends it when it was sent away', () => {
    const { state, nowMs } = afterFourFailures();
    state.target = 1;
    act(state, nowMs + slotFailureWindowMs);
    state.target = 2;
    act(state, nowMs + slotFailureWindowMs);
    dieAtOnce(state, 'i-1-6', nowMs + slotFailureWindowMs);
    expect(state.slots[1]).toMatchObject({ failures: 1, givenUp: null });
  });

  it('does not end it when it has worked for less', () => {
    const { state, good, nowMs } = afterFourFailures();
    const goneMs = nowMs + slotFailureWindowMs - 1;
    say(state, good, goneMs, interruptionAt(goneMs));
    say(state, good, goneMs, { kind: 'leaving' });
    expect(state.slots[1]).toMatchObject({ failures: 4, givenUp: null });
  });
});

describe('a scheduler that cannot start', () => {
  /** The number of instances that are launched and fail at once before the cluster ends. */
  function launchesUntilEnd(code: string): number {
    const state = daskCluster(2);
    let nowMs = 0;
    for (let nth = 1; nth <= 10; nth += 1) {
      act(state, nowMs);
      if (state.slots[0]?.givenUp) return nth - 1;
      say(state, `i-0-${nth}`, nowMs, { kind: 'register' });
      say(state, `i-0-${nth}`, nowMs, processOf(0, 'error', code));
      act(state, nowMs);
      nowMs = Math.max(nowMs, fillableAtMs(state, 0));
    }
    return 10;
  }

  it('is tried once with an environment that cannot be built, twice with a program that is wrong, else five times', () => {
    expect(['ENVIRONMENT_FAILED', 'PROGRAM_ERROR', 'SCHEDULER_FAILED'].map(launchesUntilEnd)).toEqual([1, 2, 5]);
  });
});

describe('a worker that a scale-down moves into a slot that was given up', () => {
  it('takes the history of its own slot along, so that it is replaced when it dies', () => {
    const state = daskCluster(5);
    act(state, 0);
    for (const { id } of state.instances) say(state, id, minuteMs, { kind: 'register' });
    for (const { id, slot } of state.instances) if (slot !== 1) say(state, id, minuteMs, processOf(slot, 'started'));
    say(state, 'i-1-1', minuteMs, processOf(1, 'error'));
    act(state, minuteMs);
    expect(state.slots[1]?.givenUp).toMatchObject({ code: 'ENVIRONMENT_FAILED' });

    scaleCluster(state, 4, 2 * minuteMs);
    act(state, 2 * minuteMs);
    const moved = state.instances.find(({ slot }) => slot === 1);
    expect([moved?.id, state.slots[1]?.givenUp, state.slots[4]?.givenUp?.code]).toEqual([
      'i-4-1',
      null,
      'ENVIRONMENT_FAILED',
    ]);
    say(state, 'i-4-1', 3 * minuteMs, { kind: 'leaving' });
    act(state, 3 * minuteMs);
    // The slot had an instance before: no generation of a slot is used twice.
    expect(state.instances.map(({ id }) => id).toSorted()).toEqual(['i-0-1', 'i-1-2', 'i-2-1', 'i-3-1']);
  });

  it('and a worker of a job that moves into the slot of a released one keeps its history too', () => {
    const { state, good, nowMs } = afterFourFailures();
    state.target = 3;
    act(state, nowMs);
    say(state, 'i-2-1', nowMs, { kind: 'register' });
    releaseInstances(state, [good], nowMs);
    expect([state.instances.find(({ id }) => id === 'i-2-1')?.slot, failuresOf(state, 1)]).toEqual([1, 0]);
    expect([state.target, failuresOf(state, 2)]).toEqual([2, 4]);
  });
});

describe('an instance of a job that ends by an order from outside', () => {
  const endings = { 'a stop of the stack': true, 'an unknown reason': false };

  it.each(Object.entries(endings))('%s: what the job hears, and what its slot remembers', (_, wasOrdered) => {
    const state = jobCluster(2);
    act(state, 0);
    for (const id of ['i-0-1', 'i-1-1']) say(state, id, minuteMs, { kind: 'register' });
    suspectInstances(state, [{ instance: 'i-1-1', heardAtMs: 0 }], minuteMs);
    act(state, minuteMs);
    const seen = [{ id: 'i-1-1', state: 'gone' as const, wasOrdered }];
    applyInspection(state, { seen, linkWorks: true, heard: [], listeningMs: 3_600_000 }, minuteMs);
    expect(state.lostToReport).toMatchObject([{ instance: 'i-1-1', isOrderly: wasOrdered }]);
    expect(failuresOf(state, 1)).toBe(wasOrdered ? 0 : 1);
  });

  it('an agent that leaves says why, and the job does not hold it against its tasks', () => {
    const state = jobCluster(2);
    act(state, 0);
    say(state, 'i-1-1', minuteMs, { kind: 'register' });
    say(state, 'i-1-1', minuteMs, { kind: 'leaving', text: 'the runtime is unavailable' });
    const text = 'its agent ended in order: the runtime is unavailable';
    expect(state.lostToReport).toEqual([{ instance: 'i-1-1', code: 'LEFT', text, isOrderly: true }]);
  });
});

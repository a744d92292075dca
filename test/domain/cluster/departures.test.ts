// Who leaves in order, taken back by its cloud or sent away: what it works on, what its slot's history makes of it, and who
// takes its place.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport, applyTerminated, type Report } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { giveBack } from '../../../domain/cluster/give-back.ts';
import { type Decision, intend, planCluster } from '../../../domain/cluster/plan.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { createJobState } from '../../../domain/job/create.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import type { ExchangeItem } from '../../../domain/job/protocol.ts';
import { giveBackInstances } from '../../../domain/job/shrink.ts';

const minuteMs = 60_000;
const provider = { provider: 'aws', providerQueue: 'aws', instanceVcpus: 2 };

function jobCluster(instances: number): ClusterState {
  const settings = { ...provider, name: 'c', job: 7, instances, registerTimeoutMs: 10 * minuteMs, dask: null };
  return createClusterState({ number: 7, workspace: 'default', createdAtMs: 0 }, settings);
}

/** Carries out what the plan wants, with a cloud that gives all it is asked for, until it wants no more. */
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

const takenBackAt = (atMs: number): Partial<Report> => ({
  interruption: { kind: 'terminate', at: new Date(atMs).toISOString() },
});

const ended = (decisions: Decision[]): string[] =>
  decisions.flatMap((decision) => (decision.kind === 'terminate' ? decision.ids : []));

const told = (decisions: Decision[]): string[] =>
  decisions.flatMap((decision) => (decision.kind === 'tellJob' ? decision.lost.map(({ instance }) => instance) : []));

describe('a worker of a job that its cloud takes back', () => {
  it('works on when its successor, which finds nothing to do, is given back', () => {
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
    say(state, 'i-1-1', noticeMs, takenBackAt(noticeMs + 2 * minuteMs));
    act(state, noticeMs);
    const successorMs = noticeMs + 45_000;
    say(state, 'i-1-2', successorMs, { kind: 'register' });
    ask('i-1-2', {}, successorMs);
    ask('i-1-1', { want: 0, running }, successorMs);
    const spare = giveBackInstances(job, successorMs);
    expect([spare, job.leases.map(({ instance }) => instance)]).toEqual([['i-1-2'], ['i-0-1', 'i-1-1']]);

    giveBack(state, spare, successorMs);
    expect(ended(act(state, successorMs))).toEqual(['i-1-2']);
    expect(state.instances.map(({ id }) => id)).toEqual(['i-0-1', 'i-1-1']);

    const gone = act(state, noticeMs + 3 * minuteMs);
    expect([ended(gone), told(gone)]).toEqual([['i-1-1'], ['i-1-1']]);
  });

  it('and one that is terminated as extra: the job hears of both, and of none that never registered', () => {
    const state = jobCluster(3);
    act(state, 0);
    for (const id of ['i-0-1', 'i-1-1']) say(state, id, minuteMs, { kind: 'register' });
    state.target = 1;
    const gone = act(state, minuteMs);
    expect([ended(gone), told(gone)]).toEqual([['i-1-1', 'i-2-1'], ['i-1-1']]);
  });
});

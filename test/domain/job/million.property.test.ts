// A job of a million tasks against a plain model: agents that start, fail, are lost and leave in order, cancellations of many
// tasks, and continue-as-new. Its state always stays small.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { cancelTasks } from '../../../domain/job/cancel-tasks.ts';
import { createJobState } from '../../../domain/job/create.ts';
import { loseInstance } from '../../../domain/job/events.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import { maxTasks } from '../../../domain/job/limits.ts';
import { openStates, openTasks } from '../../../domain/job/open-tasks.ts';
import type { Grant } from '../../../domain/job/protocol.ts';
import type { JobState } from '../../../domain/job/state.ts';
import { pageDue, pageWritten, summarizeJob } from '../../../domain/job/summary.ts';
import { simulationTimeoutMs } from '../../builders/simulations.ts';

const agents = 20;
const perRequest = 50;

/** The model: one byte a task, changed only by the answers. */
const [open, leased, done, failed, cancelled] = [0, 1, 2, 3, 4];

const step = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({ do: fc.constant('work'), rounds: fc.integer({ min: 1, max: 20 }), failing: fc.nat(15) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('lose'), agent: fc.nat(agents - 1), isOrderly: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('cancel'),
      from: fc.nat(maxTasks - 1),
      count: fc.integer({ min: 1, max: 100_000 }),
      every: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('continue as new') }) },
);

it('records each of a million tasks once, and its state stays below 600 kB', { timeout: simulationTimeoutMs }, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 8, maxLength: 16, size: 'max' }), (steps) => {
      const run = createRun();
      for (const each of steps) {
        if (each.do === 'work') run.work(each.rounds, each.failing);
        else if (each.do === 'lose') run.lose(each.agent, each.isOrderly);
        else if (each.do === 'cancel') run.cancel(each.from, each.count, each.every);
        else run.continueAsNew();
        run.compare();
      }
      // Running all of them would take minutes.
      run.cancel(run.state().nextFresh + 2_000, maxTasks, 1);
      for (let round = 0; run.state().outcome === null; round += 1) {
        expect(round).toBeLessThan(500);
        run.work(10, 0);
      }
      run.compareAll();
    }),
    { numRuns: 4 },
  );
});

function createRun() {
  let state = createJobState(
    { number: 1, workspace: 'w', submittedAtMs: 0 },
    {
      ...{ name: 'million', command: 'true', taskCount: maxTasks, array: `0-${maxTasks - 1}`, instances: agents },
      ...{ leaseMs: 90_000, retries: 1, jobTimeoutMs: null, provider: 'local', providerQueue: 'q', instanceVcpus: 1 },
    },
  );
  const model = new Uint8Array(maxTasks);
  const failures = new Map<number, number>();
  const losses = new Map<number, number>();
  const recorded = new Uint8Array(maxTasks);
  const fleet = Array.from({ length: agents }, (_, at) => ({ id: `i_agent${at}`, claim: 0, grants: [] as Grant[] }));
  let born = agents;
  let nowMs = 1;
  let newestLease = 0;

  const writePages = (): void => {
    for (let due = pageDue(state); due !== null; due = pageDue(state)) {
      for (const { task } of due) recorded[task] = (recorded[task] ?? 0) + 1;
      pageWritten(state, due.length);
    }
  };

  const talk = (agent: (typeof fleet)[number], failing: number): void => {
    nowMs += 1;
    const results = agent.grants.map(({ lease, task, attempt }, at) => ({
      ...{ lease, task, attempt, signal: null, startedAtMs: nowMs, endedAtMs: nowMs, reason: null },
      exitCode: at < failing ? 1 : 0,
    }));
    agent.claim += 1;
    const said = { instance: agent.id, claim: agent.claim, want: perRequest, running: [], results, head: false };
    const answer = exchange(state, said, nowMs, (index) => index);
    for (const { task, exitCode } of results) {
      if (model[task] !== leased) continue;
      const count = (failures.get(task) ?? 0) + (exitCode === 0 ? 0 : 1);
      if (exitCode !== 0) failures.set(task, count);
      model[task] = exitCode === 0 ? done : count > 1 ? failed : open;
    }
    for (const { task, lease } of answer.grants) {
      expect([model[task], lease > newestLease]).toEqual([open, true]);
      newestLease = lease;
      model[task] = leased;
    }
    agent.grants = answer.grants;
    // The same claim again gets the same grant.
    if (nowMs % 50 === 0 && answer.stop === null)
      expect(exchange(state, { ...said, results: [] }, nowMs, (index) => index).grants).toEqual(answer.grants);
    writePages();
  };

  return {
    state: () => state,
    work(rounds: number, failing: number): void {
      for (let round = 0; round < rounds && state.outcome === null; round += 1)
        for (const agent of fleet) talk(agent, failing);
    },
    lose(at: number, isOrderly: boolean): void {
      const agent = fleet[at];
      if (agent === undefined) return;
      loseInstance(state, { id: agent.id, why: 'gone', isOrderly }, (nowMs += 1));
      const [first] = agent.grants;
      for (const { task } of agent.grants) if (model[task] === leased) model[task] = open;
      if (!isOrderly && first !== undefined && model[first.task] === open) {
        losses.set(first.task, (losses.get(first.task) ?? 0) + 1);
        if (losses.get(first.task) === 3) model[first.task] = failed;
      }
      fleet[at] = { id: `i_agent${(born += 1)}`, claim: 0, grants: [] };
      writePages();
    },
    cancel(from: number, count: number, every: number): void {
      const indices = Array.from({ length: count }, (_, at) => from + at * every).filter((index) => index < maxTasks);
      cancelTasks(state, indices, { code: 'CANCELLED', text: 'not wanted', atMs: nowMs });
      for (const index of indices) if (model[index] === open || model[index] === leased) model[index] = cancelled;
      writePages();
    },
    continueAsNew(): void {
      const carried = JSON.stringify(state);
      expect(carried.length).toBeLessThan(600_000);
      const copy: JobState = JSON.parse(carried);
      state = copy;
    },
    compare(): void {
      const { tasks } = summarizeJob(state);
      const counts = [0, 0, 0, 0, 0];
      for (const code of model) counts[code] = (counts[code] ?? 0) + 1;
      const held = tasks.assigned + tasks.running;
      expect([tasks.pending, held, tasks.done, tasks.error, tasks.cancelled]).toEqual(counts);
      const all = openStates(state);
      expect(all.assigned.length + all.running.length).toBe(held);
      for (const task of [...all.assigned, ...all.running]) expect(model[task]).toBe(leased);
      for (const task of all.requeued) expect(model[task]).toBe(open);
      const sample = Array.from({ length: 2_000 }, (_, at) => (at * 7_919 + nowMs) % maxTasks);
      const isOpen = new Set(openTasks(state, sample).map(({ index }) => index));
      for (const index of sample) expect(isOpen.has(index)).toBe((model[index] ?? 0) <= leased);
    },
    compareAll(): void {
      this.compare();
      expect(model.some((code) => code === open || code === leased)).toBe(false);
      const wrong = recorded.findIndex(
        (count, task) => count > 1 || (count === 0) !== (model[task] === cancelled && count === 0),
      );
      expect(wrong).toBe(-1);
    },
  };
}

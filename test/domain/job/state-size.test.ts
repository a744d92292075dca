// The largest state that a job can have: a retry of scattered tasks of a long array, scattered cancellations, the maximum number
// of remembered lost instances, all leases that are granted ahead, and an object store that rejects records.
import { expect, it } from 'vitest';

import { parseArray } from '../../../domain/job/array.ts';
import { cancelTasks } from '../../../domain/job/cancel-tasks.ts';
import { createJobState } from '../../../domain/job/create.ts';
import { loseInstance } from '../../../domain/job/events.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import {
  defaultMaxWorkers,
  maxArrayChars,
  maxHeldLeases,
  maxLeasesAhead,
  maxLostRemembered,
} from '../../../domain/job/limits.ts';
import type { Grant } from '../../../domain/job/protocol.ts';
import { chooseTasks } from '../../../domain/job/stored-array.ts';

/** Temporal refuses larger payloads. */
const maxPayloadBytes = 2 * 1024 * 1024;

it('the largest state of a job can be carried into its next run', { timeout: 60_000 }, () => {
  const ranges = Array.from({ length: 3_500 }, (_, at) => 1_000_000_000 + at * 300).map((id) => `${id}-${id + 284}`);
  const whole = ranges.join(',');
  expect(whole.length).toBeGreaterThan(0.9 * maxArrayChars);
  const { count } = parseArray(whole);
  expect(count).toBeGreaterThan(990_000);
  const chosen = Array.from({ length: count }, (_, at) => at).filter((at) => at % 5 !== 0);
  const state = createJobState(
    { number: 1_000_000, workspace: 'w'.repeat(50), submittedAtMs: 1_790_000_000_000 },
    {
      ...{
        name: 'n'.repeat(100),
        command: 'c'.repeat(200),
        array: chooseTasks(whole, chosen),
        taskCount: chosen.length,
      },
      ...{ instances: defaultMaxWorkers, leaseMs: 90_000, retries: 5, jobTimeoutMs: null },
      ...{ provider: 'p', providerQueue: 'p/region', instanceVcpus: 4 },
    },
  );
  let nowMs = state.submittedAtMs;
  const some = Array.from({ length: chosen.length }, (_, at) => at).filter((at) => at > 100_000 && (at * at) % 7 < 3);
  cancelTasks(state, some, { code: 'CANCELLED', text: 'Cancelled.', atMs: nowMs });
  for (let n = 0; n < maxLostRemembered; n += 1)
    loseInstance(state, { id: `i-0123456789abc${n + 10_000}`, why: 'gone', isOrderly: false }, (nowMs += 1));

  const want = 1 + maxLeasesAhead / defaultMaxWorkers;
  const agents = Array.from({ length: defaultMaxWorkers }, (_, at) => ({
    ...{ id: `i-0123456789def${at + 10_000}`, claim: 0, grants: [] as Grant[] },
  }));
  let largest = 0;
  for (let round = 0; round < 5; round += 1) {
    for (const [at, agent] of agents.entries()) {
      const ended = { exitCode: 0, signal: null, startedAtMs: nowMs, endedAtMs: (nowMs += 1), reason: null };
      const results = agent.grants.map(({ lease, task, attempt }) => ({ lease, task, attempt, ...ended }));
      agent.claim += 1;
      const said = { instance: agent.id, claim: agent.claim, want, running: [], results, head: false };
      agent.grants = exchange(state, said, nowMs, (index) => index).grants;
      if (at % 50 === 0) largest = Math.max(largest, JSON.stringify(state).length);
    }
  }
  expect(largest).toBeGreaterThan(1_000_000);
  expect(largest).toBeLessThan(0.9 * maxPayloadBytes);
});

it('an agent gets no more leases than a job can carry, however many it asks for', () => {
  const state = createJobState(
    { number: 1, workspace: 'default', submittedAtMs: 1_790_000_000_000 },
    {
      ...{ name: 'job-1', command: 'true', array: '0-99999', taskCount: 100_000, instances: defaultMaxWorkers },
      ...{
        leaseMs: 90_000,
        retries: 0,
        jobTimeoutMs: null,
        provider: 'p',
        providerQueue: 'p/region',
        instanceVcpus: 4,
      },
    },
  );
  const grantsOf = (at: number): number =>
    exchange(
      state,
      { instance: `i-0123456789def${at + 10_000}`, claim: 1, want: 10_000, running: [], results: [], head: false },
      state.submittedAtMs,
      (index) => index,
    ).grants.length;
  const grants = Array.from({ length: defaultMaxWorkers }, (_, at) => grantsOf(at));
  expect(Math.max(...grants)).toBe(maxHeldLeases);
  // Each has one, whatever those before it have taken.
  expect(Math.min(...grants)).toBe(1);
  expect(state.leases.length).toBe(maxLeasesAhead + defaultMaxWorkers);
  expect(JSON.stringify(state).length).toBeLessThan(maxPayloadBytes / 2);
});

// The effects of an instance's loss on a task: attempts that count against it, attempts that do not, and the handling of a task
// that may have caused the loss.
import { expect, it } from 'vitest';

import { createJobState } from '../../../domain/job/create.ts';
import { loseInstance } from '../../../domain/job/events.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import type { ExchangeAnswer, ExchangeItem } from '../../../domain/job/protocol.ts';
import type { JobState } from '../../../domain/job/state.ts';
import {
  lostAttemptsWindowMs,
  maxLostAttempts,
  maxLostAttemptsEver,
  maxLostRemembered,
} from '../../../domain/job/limits.ts';

const hourMs = 3_600_000;

it('a task whose instance ends in order is tried again, however often', () => {
  const state = aJob({ taskCount: 1 });
  for (let round = 1; round <= 3 * maxLostAttempts; round += 1) {
    const { grants } = claim(state, `i_${round}`, round);
    expect(grants).toMatchObject([{ task: 0, attempt: round }]);
    loseInstance(state, { id: `i_${round}`, why: 'the stack was stopped', isOrderly: true }, round);
  }
  expect([state.outcome, state.causes]).toEqual([null, undefined]);
});

it('a task whose instance fails three times within a day is given up', () => {
  const state = aJob({ taskCount: 1 });
  for (let round = 1; round <= maxLostAttempts; round += 1) lose(state, `i_${round}`, round * hourMs);
  expect(state.outcome?.reason.code).toBe('TASKS_FAILED');
  expect(state.page).toMatchObject([{ state: 'error', attempt: maxLostAttempts }]);
  expect(state.causes).toMatchObject({ INSTANCE_LOST: { count: maxLostAttempts } });
});

it('losses of long ago do not count, but there is a last one', () => {
  const state = aJob({ taskCount: 1 });
  for (let round = 1; round < maxLostAttemptsEver; round += 1) lose(state, `i_${round}`, round * lostAttemptsWindowMs);
  expect(state.outcome).toBeNull();
  lose(state, 'i_last', maxLostAttemptsEver * lostAttemptsWindowMs);
  expect(state.outcome?.reason.code).toBe('TASKS_FAILED');
});

it('a running task that its agent releases before a spot instance ends loses no retry', () => {
  const state = aJob({ taskCount: 1, retries: 1 });
  for (let round = 1; round <= 2 * maxLostAttempts; round += 1) {
    const [grant] = claim(state, `i_${round}`, round).grants;
    const leases = [grant?.lease ?? 0];
    say(state, `i_${round}`, round, { running: leases });
    say(state, `i_${round}`, round, { returned: leases });
  }
  expect(state.outcome).toBeNull();
  expect(fail(state, 'i_a', 100).attempt).toBe(2 * maxLostAttempts + 1);
  expect(state.outcome).toBeNull();
  fail(state, 'i_b', 101);
  expect(state.page).toMatchObject([{ state: 'error', exitCode: 1 }]);
});

it('a job that has lost many thousands of instances remembers the newest', () => {
  const state = aJob({ taskCount: 1 });
  for (let nth = 0; nth < maxLostRemembered + 500; nth += 1) {
    say(state, `i_${nth}`, nth, {});
    loseInstance(state, { id: `i_${nth}`, why: 'interrupted', isOrderly: true }, nth);
  }
  expect(Object.keys(state.instances)).toHaveLength(maxLostRemembered);
  const newest = `i_${maxLostRemembered + 499}`;
  expect(claim(state, newest, 1_000_000)).toMatchObject({ grants: [], stop: { code: 'INSTANCE_LOST' } });
});

it('an instance that is lost before its first exchange stays lost, however many were lost before', () => {
  const state = aJob({ taskCount: 1 });
  for (let nth = 0; nth < maxLostRemembered; nth += 1) {
    say(state, `i_${nth}`, nth, {});
    loseInstance(state, { id: `i_${nth}`, why: 'interrupted', isOrderly: true }, nth);
  }
  loseInstance(state, { id: 'i_unheard', why: 'interrupted', isOrderly: true }, 1_000_000);
  expect(claim(state, 'i_unheard', 1_000_001)).toMatchObject({ grants: [], stop: { code: 'INSTANCE_LOST' } });
});

it('each task that may have cost an instance runs with no other lease beside it', () => {
  const state = aJob({ taskCount: 40 });
  const take = (instance: string, nowMs: number, running: number[] = []): ExchangeAnswer =>
    say(state, instance, nowMs, { claim: nowMs, want: 4, running, held: running.slice(1) });
  const first = take('i_lost', 1);
  expect(first.grants.map(({ task }) => task)).toEqual([0, 1, 2, 3]);
  expect(first.mayHold).toBeGreaterThan(1);
  loseInstance(state, { id: 'i_lost', why: 'it no longer exists', isOrderly: false }, 2);

  // The running task, and the three that may have begun.
  for (let round = 0; round < 4; round += 1) {
    const nowMs = 10 + 2 * round;
    const { grants, mayHold } = take('i_next', nowMs);
    expect(grants).toHaveLength(1);
    expect(grants[0]?.task).toBeLessThan(4);
    // As long as another of the four waits.
    expect(mayHold === 1).toBe(round < 3);
    const leases = grants.map(({ lease }) => lease);
    expect(take('i_next', nowMs + 1, leases).grants).toEqual([]);
    const result = { exitCode: 0, signal: null, startedAtMs: nowMs, endedAtMs: nowMs, reason: null };
    say(state, 'i_next', nowMs + 1, { results: grants.map((grant) => ({ ...grant, ...result })) });
  }
  expect(take('i_next', 20).grants.map(({ task }) => task)).toEqual([4, 5, 6, 7]);
});

it('attempts whose command failed are counted by their cause, those that ran again too', () => {
  const state = aJob({ taskCount: 1, retries: 1 });
  fail(state, 'i_1', 1);
  fail(state, 'i_1', 2);
  expect(state.causes).toEqual({ EXIT_1: { text: 'exit code 1', count: 2, lastAtMs: 2 } });
});

function aJob(settings: { taskCount: number; retries?: number }): JobState {
  const job = { number: 1, workspace: 'w', submittedAtMs: 1 };
  return createJobState(job, {
    ...{
      name: 'losing',
      command: 'c',
      array: `0-${settings.taskCount - 1}`,
      instances: 2,
      leaseMs: 90_000,
      retries: 0,
    },
    ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
    ...settings,
  });
}

function say(state: JobState, instance: string, nowMs: number, item: Partial<ExchangeItem>): ExchangeAnswer {
  const claimed = state.instances[instance]?.lastClaim ?? 0;
  return exchange(
    state,
    { instance, claim: claimed, want: 0, running: [], results: [], head: false, ...item },
    nowMs,
    (index) => index,
  );
}

const claim = (state: JobState, instance: string, nowMs: number): ExchangeAnswer =>
  say(state, instance, nowMs, { claim: (state.instances[instance]?.lastClaim ?? 0) + 1, want: 1 });

function lose(state: JobState, id: string, nowMs: number): void {
  claim(state, id, nowMs);
  loseInstance(state, { id, why: 'it no longer exists', isOrderly: false }, nowMs);
}

function fail(state: JobState, instance: string, nowMs: number): { attempt: number } {
  const [grant] = claim(state, instance, nowMs).grants;
  const { lease = 0, task = 0, attempt = 0 } = grant ?? {};
  const times = { startedAtMs: nowMs, endedAtMs: nowMs, reason: null };
  say(state, instance, nowMs, { results: [{ lease, task, attempt, exitCode: 1, signal: null, ...times }] });
  return { attempt };
}

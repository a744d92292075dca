// The start times of a job and its tasks, from the workflow's own data without the agents' clocks.
import { expect, it } from 'vitest';

import { createJobState } from '../../../domain/job/create.ts';
import { cancelJob, timeoutAtMs } from '../../../domain/job/events.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import type { ExchangeItem, TaskResult } from '../../../domain/job/protocol.ts';
import type { JobState } from '../../../domain/job/state.ts';
import { openTasks } from '../../../domain/job/open-tasks.ts';

const grantedAtMs = 10_000;

it('a job of one short task lasts as long as the task, though its agent reports only the end', () => {
  const state = aJob({ taskCount: 1 });
  say(state, grantedAtMs, { claim: 1, want: 1 });
  // The agent's clock is an hour ahead.
  const startedAtMs = grantedAtMs + 3_600_000;
  say(state, grantedAtMs + 1_040, { results: [resultOf(1, 0, { startedAtMs, endedAtMs: startedAtMs + 1_000 })] });
  expect([state.startedAtMs, state.endedAtMs]).toEqual([grantedAtMs, grantedAtMs + 1_040]);
  expect(state.page).toMatchObject([{ startedAtMs, endedAtMs: startedAtMs + 1_000 }]);
});

it('a first report that comes a second later does not shorten the job', () => {
  const state = aJob({ taskCount: 1 });
  say(state, grantedAtMs, { claim: 1, want: 1 });
  say(state, grantedAtMs + 1_000, { running: [1] });
  expect(state.startedAtMs).toBe(grantedAtMs);
  expect(openTasks(state, [0])).toMatchObject([{ state: 'running', startedAtMs: grantedAtMs }]);
});

it('the time limit of a job counts from the first grant', () => {
  const state = aJob({ taskCount: 1, jobTimeoutMs: 2_000 });
  expect(timeoutAtMs(state)).toBeNull();
  say(state, grantedAtMs, { claim: 1, want: 1 });
  expect(timeoutAtMs(state)).toBe(grantedAtMs + 2_000);
});

it('a task that waits for its turn on an instance has not started', () => {
  const state = aJob({ taskCount: 2 });
  say(state, grantedAtMs, { claim: 1, want: 2 });
  say(state, grantedAtMs + 500, { running: [1], held: [2] });
  expect(openTasks(state, [0, 1])).toMatchObject([
    { state: 'running', startedAtMs: grantedAtMs },
    { state: 'assigned', startedAtMs: null },
  ]);
  say(state, grantedAtMs + 60_000, { running: [2], results: [resultOf(1, 0)] });
  expect(openTasks(state, [1])).toMatchObject([{ state: 'running', startedAtMs: grantedAtMs + 60_000 }]);
});

it('a cancelled task says when it started, or that it did not', () => {
  const state = aJob({ taskCount: 2 });
  say(state, grantedAtMs, { claim: 1, want: 2 });
  cancelJob(state, { code: 'CANCELLED', text: 'stop', atMs: grantedAtMs + 100 });
  expect(state.page).toMatchObject([{ startedAtMs: grantedAtMs }, { startedAtMs: null }]);
});

function aJob(settings: { taskCount: number; jobTimeoutMs?: number }): JobState {
  const job = { number: 1, workspace: 'w', submittedAtMs: 1 };
  return createJobState(job, {
    ...{ name: 'timed', command: 'sleep 1', array: '0-1', instances: 1, leaseMs: 90_000, retries: 0 },
    ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
    ...settings,
  });
}

function say(state: JobState, nowMs: number, item: Partial<ExchangeItem>): void {
  const whole = { instance: 'i_1', claim: 1, want: 0, running: [], results: [], head: true, ...item };
  exchange(state, whole, nowMs, (index) => index);
}

const resultOf = (lease: number, task: number, more: Partial<TaskResult> = {}): TaskResult => ({
  ...{ lease, task, attempt: 1, exitCode: 1, signal: null, startedAtMs: 0, endedAtMs: 0, reason: null },
  ...more,
});

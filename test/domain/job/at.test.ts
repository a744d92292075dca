// The fold of a job's tasks at a past moment.
import { expect, it } from 'vitest';

import { applyTask, createJobFold, jobAt, type TaskTimes } from '../../../domain/job/at.ts';

const tasks: TaskTimes[] = [
  { state: 'done', startedAtMs: 100, endedAtMs: 200 },
  { state: 'error', startedAtMs: 150, endedAtMs: 300 },
  { state: 'cancelled', startedAtMs: null, endedAtMs: 400 },
  // For a job that is open.
  { state: 'running', startedAtMs: 250, endedAtMs: null },
  { state: 'assigned', startedAtMs: null, endedAtMs: null },
  { state: 'unknown', startedAtMs: null, endedAtMs: null },
];
const reason = { code: 'CANCELLED', text: 'Cancelled by ada.', atMs: 400 };
const job = { status: 'cancelled' as const, reason, startedAtMs: 100, endedAtMs: 500 };

function at(atMs: number) {
  const fold = createJobFold(atMs);
  for (const task of tasks) applyTask(fold, task);
  return jobAt(fold, job);
}

it.each([
  [99, 'pending', null, { pending: 6, running: 0, done: 0, error: 0, cancelled: 0 }],
  [100, 'running', null, { pending: 5, running: 1, done: 0, error: 0, cancelled: 0 }],
  [250, 'running', null, { pending: 3, running: 2, done: 1, error: 0, cancelled: 0 }],
  [400, 'running', reason, { pending: 2, running: 1, done: 1, error: 1, cancelled: 1 }],
  [500, 'cancelled', reason, { pending: 2, running: 1, done: 1, error: 1, cancelled: 1 }],
])('at %i ms the job is %s', (atMs, status, why, counts) => {
  expect(at(atMs)).toEqual({ status, reason: why, tasks: { total: 6, ...counts } });
});

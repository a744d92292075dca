// Which tasks of an ended job a retry runs.
import { expect, it } from 'vitest';

import { dependencyFailed, type EndedJob, retriedStates } from '../../../domain/job/retried-tasks.ts';

const job = (status: string, code: string | null, error: number, cancelled: number): EndedJob => ({
  ...{ status, reason: code === null ? null : { code } },
  tasks: { error, cancelled },
});

it.each<[what: string, job: EndedJob, states: string[], onRequest: string[]]>([
  ['failed tasks', job('error', 'TASKS_FAILED', 2, 0), ['error'], ['error']],
  ['cancelled tasks on request only', job('error', 'TASKS_FAILED', 2, 3), ['error'], ['error', 'cancelled']],
  [
    'all tasks that are not done after an error of the job',
    job('error', 'NO_INSTANCES', 1, 4),
    ['error', 'cancelled'],
    ['error', 'cancelled'],
  ],
  ['tasks that never ran', job('error', 'JOB_TIMEOUT', 0, 4), ['cancelled'], ['cancelled']],
  ['those of a job whose dependency failed', job('cancelled', dependencyFailed, 0, 4), ['cancelled'], ['cancelled']],
  ['those of a cancelled job on request only', job('cancelled', 'CANCELLED', 0, 4), [], ['cancelled']],
  ['none of a job without a failure', job('done', null, 0, 0), [], []],
  ['none without a reason, unless they failed', job('error', null, 1, 2), ['error'], ['error', 'cancelled']],
])('a retry runs %s', (_what, ended, states, onRequest) => {
  expect(retriedStates(ended, {})).toEqual(states);
  expect(retriedStates(ended, { cancelled: false })).toEqual(states);
  expect(retriedStates(ended, { cancelled: true })).toEqual(onRequest);
});

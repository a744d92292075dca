// Records that the object store rejects wait in the job's state, which has a bound.
import { expect, it } from 'vitest';

import { createJobState } from '../../../domain/job/create.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import type { ExchangeAnswer, ExchangeItem, Grant, TaskResult } from '../../../domain/job/protocol.ts';
import { pageDue, pageWritten } from '../../../domain/job/summary.ts';
import { maxUnwrittenRecords } from '../../../domain/job/limits.ts';

const taskCount = maxUnwrittenRecords + 1_000;
const state = createJobState(
  { number: 1, workspace: 'w', submittedAtMs: 0 },
  {
    ...{
      name: 'many',
      command: 'c',
      array: `0-${taskCount - 1}`,
      taskCount,
      instances: 1,
      leaseMs: 90_000,
      retries: 0,
    },
    ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
  },
);
const say = (item: Partial<ExchangeItem>): ExchangeAnswer =>
  exchange(
    state,
    { instance: 'i_1', claim: 0, want: 0, running: [], results: [], head: false, ...item },
    0,
    (index) => index,
  );

const resultOf = ({ lease, task }: Grant): TaskResult => ({
  ...{ lease, task, attempt: 1, exitCode: 0, signal: null, startedAtMs: 0, endedAtMs: 0, reason: null },
});

it('a job grants no task while too many records are not written, and goes on when they are', () => {
  let results: TaskResult[] = [];
  let claim = 0;
  for (;;) {
    claim += 1;
    const { grants } = say({ claim, want: 100, results });
    if (grants.length === 0) break;
    expect(say({ claim, want: 100 }).grants).toEqual(grants);
    results = grants.map(resultOf);
  }
  expect(state.page).toHaveLength(maxUnwrittenRecords);
  expect(JSON.stringify(state).length).toBeLessThan(1_500_000);

  const due = pageDue(state) ?? [];
  pageWritten(state, due.length);
  expect(say({ claim: claim + 1, want: 100 }).grants).toHaveLength(100);
});

// SIGSTOP of the processes of the control plane, each for longer than a task's lease with its extensions, and of all at once as
// when a laptop sleeps: the silence of the control plane ends no agent and no task.
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { startStack } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { startJob } from './job.ts';

const leaseSeconds = 2;
/** Longer than a lease and its two extensions. */
const stoppedMs = 8_000;

let stack: TestStack;
beforeAll(async () => void (stack = await startStack()));
afterAll(() => stack.stop());

it('SIGSTOP of API, Temporal worker, Temporal and all of them costs no agent and no task', async () => {
  const job = await startJob(stack, { ntasks: 200, maxWorkers: 2, lease: leaseSeconds });
  try {
    await job.progress(5);
    const agents = await job.agents(2);
    for (const names of [['api'], ['worker'], ['temporal'], ['api', 'worker', 'temporal']]) {
      for (const name of names) await stack.kill(name, 'SIGSTOP');
      await sleep(stoppedMs);
      for (const name of names) await stack.kill(name, 'SIGCONT');
      await job.progress(3);
      expect(await job.agents(2), `after ${names.join(', ')}`).toEqual(agents);
    }
    const { status, counters } = await job.end();
    expect(job.lies()).toEqual([]);
    expect(status).toBe('done');
    expect(counters).toMatchObject({ retried: 0, lost: 0 });
  } finally {
    job.remove();
  }
});

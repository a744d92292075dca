// A job gives its instances back while its last task still runs, on a real stack: their processes end, the head stays, and
// every task ends as it should.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids } from '../support/kills.ts';
import { startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

let stack: TestStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack();
  client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
});
afterAll(async () => stack.stop());

it('the cluster of a job shrinks as its queue drains, and loses no task', async () => {
  // The last of four goes on; whoever runs it stays, and so does the head.
  const command = ['bash', '-c', 'if [ "$ROPEWALK_ARRAY_TASK_ID" = 3 ]; then sleep 40; fi'];
  const { number } = await client.jobs.create({ command, ntasks: 4, maxWorkers: 4 });
  await eventually(async () => (await client.clusters.get(number)).instances.length === 4);
  await eventually(async () => (await client.jobs.get(number)).tasks.done === 3);
  const smaller = await eventually(async () => {
    const cluster = await client.clusters.get(number);
    return cluster.instances.length <= 2 ? cluster : null;
  });
  expect((await client.jobs.get(number)).tasks.running).toBe(1);
  expect(smaller.instances.some(({ role }) => role === 'head')).toBe(true);
  await eventually(() => agentPids(stack.home).size === smaller.instances.length, { timeoutMs: 10_000 });
  const job = await client.jobs.wait(number);
  expect(job).toMatchObject({ status: 'done', tasks: { done: 4 }, counters: { lost: 0, stale: 0 } });
});

// A job releases instances while its last task still runs, on the shared stack: their processes end, the head stays, and every
// task ends as it should.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Cluster } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStack } from '../support/shared-stack.ts';
import type { SharedStack } from '../support/shared-stack.ts';

const out = mkdtempSync(join(tmpdir(), 'ropewalk-shrink-'));
let stack: SharedStack;
beforeAll(async () => {
  stack = await sharedStack();
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

const idsOf = ({ instances }: Cluster): string[] => instances.map(({ id }) => id);

it('the cluster of a job shrinks as its queue drains, and loses no task', async () => {
  const { client } = stack;
  const mayEnd = join(out, 'may-end');
  // The last of four tasks runs until it may end. Its instance stays, and so does the head.
  const command = [
    'bash',
    '-c',
    'if [ "$ROPEWALK_ARRAY_TASK_ID" = 3 ]; then until [ -e "$MAY_END" ]; do sleep 0.1; done; fi',
  ];
  const { number } = await client.jobs.create({ command, env: { MAY_END: mayEnd }, ntasks: 4, maxWorkers: 4 });
  const wide = await eventually(async () => {
    const cluster = await client.clusters.get(number);
    return cluster.instances.length === 4 ? cluster : null;
  });
  await eventually(async () => (await client.jobs.get(number)).tasks.done === 3);
  const smaller = await eventually(async () => {
    const cluster = await client.clusters.get(number);
    return cluster.instances.length <= 2 ? cluster : null;
  });
  // The last task may be with an agent that has not reported it yet.
  await eventually(async () => (await client.jobs.get(number)).tasks.running === 1);
  expect(smaller.instances.some(({ role }) => role === 'head')).toBe(true);
  await eventually(() => stack.livingAgents(idsOf(wide)).length === smaller.instances.length);
  writeFileSync(mayEnd, '');
  const job = await client.jobs.wait(number);
  expect(job).toMatchObject({ status: 'done', tasks: { done: 4 }, counters: { lost: 0, stale: 0 } });
});

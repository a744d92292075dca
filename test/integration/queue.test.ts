// A job that waits for another one, some of whose tasks are cancelled: real Temporal, real agents.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { sharedStack } from '../support/shared-stack.ts';
import type { SharedStack } from '../support/shared-stack.ts';

const out = mkdtempSync(join(tmpdir(), 'ropewalk-queue-'));
let stack: SharedStack;
beforeAll(async () => {
  stack = await sharedStack();
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

/** Task 1 records the TERM that it gets; the others wait until they may end. */
const script = [
  'if [ "$ROPEWALK_ARRAY_TASK_ID" = 1 ]; then',
  '  trap "touch $OUT/got-term; exit 1" TERM; touch $OUT/began; while :; do sleep 0.1; done',
  'fi',
  'until [ -e "$OUT/may-end" ]; do sleep 0.1; done',
].join('\n');

it('tasks that run get TERM, those that wait never run, and the next job starts after the last', async () => {
  const { client } = stack;
  const command = ['bash', '-c', script];
  const first = await client.jobs.create({ command, env: { OUT: out }, ntasks: 4, maxWorkers: 2, lease: '3 s' });
  const second = await client.jobs.create({ command: ['true'], afterOk: [first.number] });
  await eventually(() => existsSync(join(out, 'began')));
  const { tasks } = await client.jobs.cancelTasks(first.number, '1,3');
  expect(tasks.cancelled).toBe(2);
  await eventually(() => existsSync(join(out, 'got-term')));
  expect(await client.jobs.get(second.number)).toMatchObject({ status: 'waiting', afterOk: [first.number] });
  const { items: seen } = await client.jobs.tasks(first.number);
  const waiting = seen.find(({ id }) => id === 3);
  expect(waiting).toMatchObject({ state: 'cancelled', attempt: 0, reason: expect.stringContaining('Cancelled by') });
  writeFileSync(join(out, 'may-end'), '');
  expect(await client.jobs.wait(first.number)).toMatchObject({ status: 'done', tasks: { done: 2, cancelled: 2 } });
  expect(await client.jobs.wait(second.number)).toMatchObject({ status: 'done', afterOk: [first.number] });
  const states = (await client.jobs.tasks(first.number)).items.map(({ state }) => state);
  expect(states).toEqual(['done', 'cancelled', 'done', 'cancelled']);
});

it("a run of Temporal's Schedule is noted, and its job is submitted", async () => {
  const { client } = stack;
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    const temporal = new Client({ connection, namespace: stack.namespace });
    await client.schedules.create({ name: 'yearly', cron: '0 3 1 1 *', job: { command: ['true'] } });
    const id = await eventually(async () => {
      for await (const { scheduleId } of temporal.schedule.list()) if (isOfUser(scheduleId)) return scheduleId;
      return null;
    });
    await temporal.schedule.getHandle(id).trigger();
    const { runs } = await eventually(async () => {
      const found = await client.schedules.get('yearly');
      return found.runs[0]?.state === 'started' ? found : null;
    });
    expect(runs).toMatchObject([{ job: expect.any(Number), text: null }]);
    await client.schedules.delete('yearly');
  } finally {
    await connection.close();
  }
});

const isOfUser = (id: string): boolean => id.startsWith('schedule/sch');

// Schedules on a real Temporal that is killed, and that is down when runs are due.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client as TemporalClient, Connection, ScheduleNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { scheduledRunType, userScheduleId } from '../../contracts/scheduled-run.ts';
import { createClient, type Client } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const parent = mkdtempSync(join(tmpdir(), 'ropewalk-schedules-'));
const home = join(parent, 'home');
let stack: TestStack;
let client: Client;

const start = async (): Promise<void> => {
  stack = await startStack({ home });
  client = createClient(stack);
};

beforeAll(start);
afterAll(async () => {
  await stack?.stop();
  rmSync(parent, { recursive: true, force: true });
});

async function withTemporal<T>(run: (temporal: TemporalClient) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    return await run(new TemporalClient({ connection, namespace: stack.namespace }));
  } finally {
    await connection.close();
  }
}

/** Whether they are paused, by the names that users gave them. */
const inTemporal = (): Promise<Record<string, boolean>> =>
  withTemporal(async ({ schedule }) => {
    const found: Record<string, boolean> = {};
    for await (const { scheduleId } of schedule.list()) {
      if (!scheduleId.startsWith(userScheduleId('sch'))) continue;
      const { state, action } = await schedule.getHandle(scheduleId).describe();
      // "Run of the schedule NAME in workspace default"
      const name = action.staticSummary?.split(' ')[4] ?? scheduleId;
      found[name] = state.paused;
    }
    return found;
  });

const shows = (wanted: Record<string, boolean>) =>
  eventually(async () => {
    expect(await inTemporal()).toEqual(wanted);
    return true;
  });

const job = { command: ['true'] };
const rare = { cron: '0 3 1 1 *', timezone: 'Europe/Berlin', job };
const firstStarted = (name: string) =>
  eventually(async () => (await client.schedules.get(name)).runs.find(({ state }) => state === 'started') ?? null);

it('a Schedule follows its row, and its runs are normal jobs', async () => {
  await client.schedules.create({ ...rare, name: 'one' });
  expect((await client.schedules.get('one')).nextRuns[0]).toMatch(/-01-01T02:00:00/);
  await shows({ one: false });
  await client.schedules.trigger('one');
  const run = await firstStarted('one');
  expect(await client.jobs.wait(run.job ?? 0)).toMatchObject({ status: 'done', schedule: 'one' });
  await client.schedules.pause('one');
  await shows({ one: true });
  await client.schedules.resume('one');
  await shows({ one: false });
  const id = await withTemporal(async ({ schedule }) => {
    for await (const { scheduleId } of schedule.list()) if (scheduleId.startsWith('schedule/')) return scheduleId;
    return '';
  });
  await client.schedules.delete('one');
  await withTemporal(async ({ schedule }) => {
    await expect(schedule.getHandle(id).describe()).rejects.toThrow(ScheduleNotFoundError);
  });
});

it('changes that are made while Temporal is unavailable follow when it is back', async () => {
  await client.schedules.create({ ...rare, name: 'paused' });
  await client.schedules.create({ ...rare, name: 'deleted' });
  await shows({ paused: false, deleted: false });
  await stack.kill('temporal', 'SIGSTOP');
  const answers = await Promise.all([
    client.schedules.pause('paused'),
    client.schedules.delete('deleted'),
    client.schedules.create({ ...rare, name: 'created' }),
  ]);
  expect(answers).toMatchObject([
    { state: 'paused', acceptedForLater: true },
    { acceptedForLater: true },
    { state: 'active', acceptedForLater: true },
  ]);
  expect((await client.schedules.list()).map(({ name }) => name)).toEqual(['created', 'paused']);
  await stack.kill('temporal', 'SIGKILL');
  await shows({ paused: true, created: false });
  await Promise.all(['paused', 'created'].map((name) => client.schedules.delete(name)));
});

it('a run that was missed while the whole stack was down is made up, once', async () => {
  await client.schedules.create({ name: 'minutely', cron: '* * * * *', job });
  const { nextRuns } = await client.schedules.get('minutely');
  // Of a run that is due before the stack has stopped, the test would say nothing.
  const missed = nextRuns.find((at) => Date.parse(at) - Date.now() > 20_000) ?? '';
  await stack.stop();
  expect(Date.now()).toBeLessThan(Date.parse(missed));
  await eventually(() => Date.now() > Date.parse(missed), { timeoutMs: 120_000 });
  await start();
  const query = `WorkflowType = '${scheduledRunType}'`;
  await eventually(() =>
    withTemporal(async ({ workflow }) => {
      const ended = [];
      for await (const run of workflow.list({ query })) if (run.status.name === 'COMPLETED') ended.push(run.workflowId);
      return ended.filter((id) => id.endsWith(missed.replace('.000', ''))).length === 1;
    }),
  );
  await client.schedules.pause('minutely');
  const runs = await eventually(async () => {
    const all = (await client.schedules.get('minutely')).runs;
    return all.length > 0 && all.every(({ state }) => state !== 'due') ? all : null;
  });
  const jobs = runs.flatMap((run) => (run.job === null ? [] : [run.job]));
  expect(jobs.length).toBeGreaterThan(0);
  for (const number of jobs) expect(await client.jobs.wait(number)).toMatchObject({ schedule: 'minutely' });
  await client.schedules.delete('minutely');
});

// A stack whose temporal.db was lost with open work, while agents survived: one command gives up the lost workflows, and nothing else.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { makeHome, removeHome, spawnStack, startStack, type StackOptions, type TestStack } from '../support/stack.ts';

const running: Pick<TestStack, 'killAll'>[] = [];
let home = '';
afterEach(async () => {
  for (const stack of running.splice(0)) await stack.killAll('SIGKILL');
  await removeHome(home);
});

async function start(options: StackOptions = {}): Promise<TestStack> {
  const stack = await startStack({ home, ...options });
  running.push(stack);
  return stack;
}

async function refused(args: string[]): Promise<string> {
  const stack = await spawnStack(home, { byCommand: true, args });
  running.push(stack);
  expect(await stack.exited).toBe(1);
  return stack.output();
}

const agents = async () => (await processesOfHome(home)).filter(({ instance }) => instance !== null);

it('ends the lost jobs and clusters with their agents, and keeps ended jobs, schedules, tokens and numbers', async () => {
  home = await makeHome();
  const first = await start();
  const { jobs, clusters, schedules } = createClient(first);
  const done = await jobs.create({ command: ['echo', 'kept'] });
  await jobs.wait(done.number);
  await schedules.create({ name: 'yearly', cron: '0 3 1 1 *', job: { command: ['true'] } });
  const job = await jobs.create({ command: ['sleep', '1000'] });
  const cluster = await clusters.create({ name: 'lost', workers: 1 });
  await eventually(async () => (await jobs.get(job.number)).tasks.running === 1);
  await eventually(async () => (await clusters.get(cluster.number)).instances.length > 0);
  // Agents survive a killed stack.
  const children = Object.values(await first.childPids());
  await first.signal('SIGKILL');
  for (const pid of children) process.kill(pid, 'SIGKILL');
  for (const name of (await readdir(home)).filter((each) => each.startsWith('temporal.db'))) await rm(join(home, name));
  const tasks = async () => (await agents()).filter(({ command }) => command === 'sleep 1000').map(({ pid }) => pid);
  const survivors = await tasks();
  expect(survivors).toHaveLength(1);

  expect(await refused([])).toContain('`ropewalk dev --new-temporal-namespace`');
  const asked = await refused(['--new-temporal-namespace']);
  expect(asked).toContain(
    '1 open job and 1 open cluster lose their workflow and end with an error (ENDED_FROM_OUTSIDE)',
  );
  expect(asked).toContain('not confirmed; nothing was changed');
  expect(await tasks()).toEqual(survivors);

  const second = await start({ byCommand: true, args: ['--new-temporal-namespace', '--yes'] });
  expect(second.output()).toContain(`job/${job.number}`);
  expect(second.token).toBe(first.token);
  const after = createClient(second);
  const outside = { status: 'error', reason: { code: 'ENDED_FROM_OUTSIDE', text: /its namespace was lost/ } };
  const isOutside = { ...outside, reason: { ...outside.reason, text: expect.stringMatching(outside.reason.text) } };
  expect(await after.jobs.get(job.number)).toMatchObject(isOutside);
  expect(await after.clusters.get(cluster.number)).toMatchObject(isOutside);
  await eventually(async () => (await agents()).length === 0);
  expect(await after.jobs.get(done.number)).toMatchObject({ status: 'done', tasks: { done: 1 } });
  const lines = [];
  for await (const line of after.jobs.logs(done.number)) lines.push(line.text);
  expect(lines).toContain('kept');
  // The API creates the schedule in the new namespace.
  await eventually(async () => (await after.schedules.get('yearly')).nextRuns.length > 0);
  const next = await after.jobs.create({ command: ['true'] });
  expect(next.number).toBeGreaterThan(cluster.number);
  expect(await after.jobs.wait(next.number)).toMatchObject({ status: 'done' });
  await second.stop();

  expect(await refused(['--new-temporal-namespace', '--yes'])).toContain('nothing is lost');
});

// A complete real stack: ready, used by a program, restarted in parts, killed, started again, ended.
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { job, taskPage } from '../../schema/jobs.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { makeHome, removeHome, spawnStack, startStack, type TestStack } from '../support/stack.ts';

const stacks: { killAll: TestStack['killAll'] }[] = [];
const homes: string[] = [];
afterEach(async () => {
  for (const stack of stacks.splice(0)) await stack.killAll('SIGKILL');
  for (const home of homes.splice(0)) await removeHome(home);
});

describe('ropewalk dev', () => {
  it('is ready with an API that takes the token of config.yaml, and Ctrl-C ends all of it in order', async () => {
    const stack = await start();
    const children = await stack.childPids();
    expect(Object.keys(children).toSorted()).toEqual(['api', 'temporal', 'worker']);
    // The scan finds live processes: only then does an empty scan at the end prove anything.
    const seen = (await processesOfHome(stack.home)).map(({ pid }) => pid);
    expect(seen).toEqual(expect.arrayContaining(Object.values(children)));
    expect((await jobs(stack)).status).toBe(200);
    expect((await stat(join(stack.home, 'config.yaml'))).mode & 0o777).toBe(0o600);
    expect(stack.output()).toContain(`API            ${stack.apiUrl}`);
    expect(stack.output()).not.toContain(stack.token.split('-').at(-1));

    expect(await stack.signal('SIGINT')).toBe(0);
    expect(await processesOfHome(stack.home)).toEqual([]);
    expect(existsSync(join(stack.home, 'run', 'stack.json'))).toBe(false);
    expect(existsSync(join(stack.home, 'lock'))).toBe(false);
  });

  it('refuses a second stack on the same home, which goes on', async () => {
    const stack = await start();
    const second = await spawnStack(stack.home);
    stacks.push(second);
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`is in use by another stack: process ${stack.dev.pid}`);
    expect((await jobs(stack)).status).toBe(200);
    await stack.stop();
  });

  it.each(['api', 'worker', 'temporal'])('starts a killed %s again, at the same address', async (name) => {
    const stack = await start();
    const before = (await stack.childPids())[name];
    await stack.kill(name, 'SIGKILL');
    await eventually(async () => {
      const now = (await stack.childPids())[name];
      return now !== undefined && now !== before;
    });
    // A new job needs all three: the API, the workflow that admits it, and the server in between.
    await eventually(async () => (await submit(stack)).status === 201, { timeoutMs: 60_000, intervalMs: 250 });
    await stack.stop();
  });

  it('ends what outlived a killed supervisor, and keeps ports, ids and token', async () => {
    const home = await makeHome();
    homes.push(home);
    const first = await start({ home });
    const old = await first.childPids();
    const host = await readFile(join(home, 'host.json'), 'utf8');
    first.dev.kill('SIGKILL');
    await first.exited;

    const second = await start({ home });
    expect(second).toMatchObject({ apiUrl: first.apiUrl, temporalAddress: first.temporalAddress, token: first.token });
    expect(await readFile(join(home, 'host.json'), 'utf8')).toBe(host);
    expect((await jobs(second)).status).toBe(200);
    const alive = Object.values(await second.childPids());
    expect(Object.values(old).filter((pid) => alive.includes(pid))).toEqual([]);
    expect(Object.values(old)).toHaveLength(3);
    await second.stop();
  });

  it('adopts instances that outlived a kill, ends them in order, and goes on with their job later', async () => {
    const home = await makeHome();
    homes.push(home);
    const flag = join(home, 'may-end');
    const first = await start({ home });
    const wait = ['sh', '-c', `while [ ! -e "${flag}" ]; do sleep 0.1; done`];
    const { number } = z.object({ number: z.number() }).parse(await (await submit(first, wait)).json());
    await eventually(async () => (await statusOf(first, number)).running === 1);
    first.dev.kill('SIGKILL');
    await first.exited;

    const second = await start({ home });
    expect(second.output()).toContain('adopted 1 running instance');
    await eventually(async () => (await statusOf(second, number)).running === 1);
    await second.stop();
    expect(second.output()).toContain('ended 1 instance');
    expect(second.output()).toContain('1 open job kept in Temporal');

    await writeFile(flag, '');
    const third = await start({ home });
    await eventually(async () => (await statusOf(third, number)).status === 'done', { timeoutMs: 120_000 });
    await third.stop();
  });

  it('leaves the tasks of a killed stack running when the next start fails, and goes on with the same attempt', async () => {
    const home = await makeHome();
    homes.push(home);
    const flag = join(home, 'may-end');
    const first = await start({ home });
    const wait = ['sh', '-c', `while [ ! -e "${flag}" ]; do sleep 0.1; done`];
    const { number } = z.object({ number: z.number() }).parse(await (await submit(first, wait)).json());
    await eventually(async () => (await statusOf(first, number)).running === 1);
    first.dev.kill('SIGKILL');
    await first.exited;
    const host = await readFile(join(home, 'host.json'), 'utf8');
    await writeFile(join(home, 'host.json'), 'damaged');
    const failed = await spawnStack(home);
    stacks.push(failed);
    expect(await failed.exited).toBe(1);
    expect(failed.output()).toContain('1 instance of an earlier stack was left running: the next start adopts it');

    await writeFile(join(home, 'host.json'), host);
    const second = await start({ home });
    expect(second.output()).toContain('adopted 1 running instance');
    await writeFile(flag, '');
    await eventually(async () => (await statusOf(second, number)).status === 'done', { timeoutMs: 60_000 });
    const answer = await fetch(`${second.apiUrl}/v1/jobs/${number}/tasks`, { headers: headers(second) });
    expect(taskPage.parse(await answer.json()).items).toMatchObject([{ state: 'done', attempt: 1 }]);
    await second.stop();
  });

  it('ends everything at once on a second Ctrl-C, also in the middle of its start', async () => {
    const home = await makeHome();
    homes.push(home);
    const stack = await spawnStack(home);
    stacks.push(stack);
    await eventually(async () => (await stack.childPids())['temporal'] !== undefined);
    await stack.kill('temporal', 'SIGSTOP');
    stack.dev.kill('SIGINT');
    await eventually(() => stack.output().includes('stopping'));
    await eventually(() => {
      stack.dev.kill('SIGINT');
      return stack.dev.exitCode !== null || stack.dev.signalCode !== null;
    });
    await eventually(async () => (await processesOfHome(home)).length === 0);
  });
});

async function start(options: { home?: string } = {}): Promise<TestStack> {
  const stack = await startStack(options);
  stacks.push(stack);
  if (options.home === undefined) homes.push(stack.home);
  return stack;
}

const headers = (stack: TestStack): Record<string, string> => ({ authorization: `Bearer ${stack.token}` });
const jobs = (stack: TestStack): Promise<Response> => fetch(`${stack.apiUrl}/v1/jobs`, { headers: headers(stack) });

async function statusOf(stack: TestStack, number: number): Promise<{ status: string; running: number }> {
  const answer = await fetch(`${stack.apiUrl}/v1/jobs/${number}`, { headers: headers(stack) });
  const { status, tasks } = job.parse(await answer.json());
  return { status, running: tasks.running };
}

/** A job whose agents are missed quickly. Other tests cover its own life. */
async function submit(stack: TestStack, command = ['true']): Promise<Response> {
  return fetch(`${stack.apiUrl}/v1/jobs`, {
    method: 'POST',
    headers: { ...headers(stack), 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ command, lease: '3 seconds' }),
    signal: AbortSignal.timeout(15_000),
  });
}

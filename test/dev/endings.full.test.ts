// A stack without its launcher or database ends in order, prints the reason, and leaves its instances to the next start.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import {
  makeHome,
  node24,
  removeHome,
  spawnStack,
  startStack,
  type StackOptions,
  type TestStack,
} from '../support/stack.ts';

const stacks: TestStack[] = [];
const others: ChildProcess[] = [];
let home = '';
afterEach(async () => {
  for (const other of others.splice(0)) other.kill('SIGKILL');
  for (const stack of stacks.splice(0)) await stack.killAll('SIGKILL');
  await removeHome(home);
});

async function start(options: StackOptions = {}): Promise<TestStack> {
  const stack = await startStack({ home, ...options });
  stacks.push(stack);
  return stack;
}

async function startTask(stack: TestStack): Promise<{ number: number; flag: string }> {
  const flag = join(home, 'may-end');
  const command = ['sh', '-c', `while [ ! -e "${flag}" ]; do sleep 0.1; done`];
  const { number } = await createClient(stack).jobs.create({ command });
  await eventually(async () => (await createClient(stack).jobs.get(number)).tasks.running === 1);
  return { number, flag };
}

/** The next start adopts the instance, and the task ends in its first attempt. */
async function goOn({ number, flag }: { number: number; flag: string }): Promise<string> {
  const next = await start();
  await writeFile(flag, '');
  const { jobs } = createClient(next);
  expect(await jobs.wait(number)).toMatchObject({ status: 'done', counters: { retried: 0, lost: 0 } });
  await next.stop();
  return next.output();
}

it('ends without its instances when its launcher is killed', async () => {
  home = await makeHome();
  const stack = await start({ launched: true });
  const task = await startTask(stack);
  const link = stack.dev.stdio[3];
  if (!(link instanceof Socket)) throw new Error('no pipe');
  link.destroy();
  expect(await stack.exited).toBe(1);
  expect(stack.output()).toContain('the process that started it has ended');
  expect(stack.output()).toContain('1 instance was left running: the next start adopts it');
  expect(await stack.childPids()).toEqual({});
  expect(await goOn(task)).toContain('adopted 1 running instance');
});

it('ends without its instances when its database file is deleted, and the next start adds the open job', async () => {
  home = await makeHome();
  const stack = await start();
  const task = await startTask(stack);
  const file = join(home, 'ropewalk.db');
  for (const each of [file, `${file}-wal`, `${file}-shm`]) await rm(each, { force: true });
  expect(await stack.exited).toBe(1);
  expect(stack.output()).toContain(`the database ${file} was deleted or replaced while the stack ran`);
  expect(stack.output()).toContain('1 instance was left running: the next start adopts it');
  const output = await goOn(task);
  expect(output).toContain('added 2 workflows of an earlier database');
});

it.each(['temporal', 'worker', 'api'])('ends in order when Ctrl-C comes while %s starts', async (child) => {
  home = await makeHome();
  const { childPids, signal, output, killAll } = await spawnStack(home, { byCommand: true });
  try {
    await eventually(async () => (await childPids())[child] !== undefined, { intervalMs: 5 });
    expect(await signal('SIGINT')).toBe(0);
    expect(await childPids()).toEqual({});
    const lines = output().trimEnd().split('\n');
    expect(lines.filter((line) => !/^\w+ \| /.test(line))).toEqual([
      'stopping (once more to end everything at once)',
      'stopped',
    ]);
  } finally {
    await killAll('SIGKILL');
  }
});

it('ends without its instances when the reader of its output has ended', async () => {
  home = await makeHome();
  const stack = await start({ byCommand: true });
  const task = await startTask(stack);
  stack.dev.stdout?.destroy();
  // The next line cannot be written.
  await stack.kill('worker', 'SIGKILL');
  expect(await stack.exited).toBe(1);
  expect(stack.output()).toContain('the reader of its output has ended');
  expect(await stack.childPids()).toEqual({});
  expect(await goOn(task)).toContain('adopted 1 running instance');
});

it('is started by bin/ropewalk.mjs with a pipe that the kernel closes when the launcher is killed', async () => {
  home = await makeHome();
  // A launcher like an older Node: it starts another process, and waits.
  const script = `
    const { spawn } = require('node:child_process');
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });
    process.argv = [process.argv0, 'ropewalk', 'dev', '--home', ${JSON.stringify(home)}];
    import(${JSON.stringify(new URL('../../bin/ropewalk.mjs', import.meta.url).href)});
  `;
  const launcher = spawn(node24, ['-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  others.push(launcher);
  let text = '';
  for (const stream of [launcher.stdout, launcher.stderr])
    stream.on('data', (chunk: Buffer) => (text += String(chunk)));
  await eventually(() => text.includes('Ropewalk is ready.'), { timeoutMs: 90_000 });
  launcher.kill('SIGKILL');
  // The pipes end with the last process that has them.
  await once(launcher, 'close');
  expect(text).toContain('the process that started it has ended');
  expect(text.trimEnd().endsWith('stopped')).toBe(true);
});

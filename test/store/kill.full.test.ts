// Two processes admit jobs into one SQLite file, and are killed again and again: every acknowledged job exists once.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { openStore } from '../../store/open.ts';
import { eventually } from '../support/eventually.ts';

const kills = 6;
const admitter = join(import.meta.dirname, 'admitter.ts');

interface Admitter {
  child: ChildProcess;
  exited: Promise<unknown>;
}

let directory = '';
const children = new Set<Admitter>();
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-store-'));
});
afterEach(async () => {
  for (const { child, exited } of children) {
    child.kill('SIGKILL');
    await exited;
  }
  await rm(directory, { recursive: true });
});

it('loses and doubles no acknowledged admission when writers are killed', async () => {
  const file = join(directory, 'records.sqlite');
  const store = await openStore({ url: null, file, migrate: true });
  const token = { id: 't', secretHash: 'a', expiresAtMs: null };
  await store.workspaces.create({ slug: 'w', admin: { name: 'ada', token }, nowMs: 1 });
  const ample = { running: 1_000_000, instances: 1_000_000, vcpus: 1_000_000 };
  await store.workspaces.configure('w', { limits: ample, by: null }, 1);

  /** Number by key, as the processes printed it. */
  const acknowledged = new Map<string, number>();
  const twice: string[] = [];
  const acknowledge = (line: string): void => {
    const [key = '', number = ''] = line.split(' ');
    if (acknowledged.has(key)) twice.push(key);
    acknowledged.set(key, Number(number));
  };
  let [one, two] = [start(file, 'a0', acknowledge), start(file, 'b0', acknowledge)];
  for (let kill = 1; kill <= kills; kill += 1) {
    const before = acknowledged.size;
    await eventually(() => acknowledged.size > before + 60, { intervalMs: 2 });
    const isFirst = kill % 2 === 1;
    await end(isFirst ? one : two);
    if (isFirst) one = start(file, `a${kill}`, acknowledge);
    else two = start(file, `b${kill}`, acknowledge);
  }
  await Promise.all([end(one), end(two)]);

  const { items } = await store.jobs.list({ workspace: 'w', limit: 1_000_000 });
  const numbers = new Map(items.map(({ admissionId, number }) => [admissionId, number]));
  expect(twice).toEqual([]);
  expect(numbers.size).toBe(items.length);
  for (const [key, number] of acknowledged) expect(numbers.get(key)).toBe(number);
  // Each admission has its reservation: a transaction is stored as a whole or not at all.
  expect((await store.workspaces.usage('w')).total.running).toBe(items.length);
  await store.close();
  const database = new DatabaseSync(file);
  expect(database.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
  expect(database.prepare('pragma foreign_key_check').all()).toEqual([]);
  database.close();
  console.log(`${acknowledged.size} acknowledged, ${items.length} stored, after ${kills} kills`);
}, 120_000);

function start(file: string, prefix: string, acknowledge: (line: string) => void): Admitter {
  const child = spawn(process.execPath, [admitter, file, prefix], { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', acknowledge);
  const started = { child, exited: once(child, 'close') };
  children.add(started);
  return started;
}

async function end(started: Admitter): Promise<void> {
  started.child.kill('SIGKILL');
  await started.exited;
  children.delete(started);
}

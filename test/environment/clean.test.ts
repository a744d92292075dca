// The cleaner removes environments that no process uses any more, and never one in use, however close a use and a removal come.
import { spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { thisBuilder } from '../../agent/runtimes/environment/builder.ts';
import { cleanEnvironments } from '../../agent/runtimes/environment/clean.ts';
import { isInUse, markerFile, markRemoving, stamp, use } from '../../agent/runtimes/environment/in-use.ts';

const dayMs = 86_400_000;

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'ropewalk-clean-'));
});
afterEach(() => rm(cacheDir, { recursive: true, force: true, maxRetries: 5 }));

const directoryOf = (hash: string): string => join(cacheDir, 'environments', hash);
const left = async (): Promise<string[]> => (await readdir(join(cacheDir, 'environments'))).sort();

async function addEnvironment(hash: string, unusedDays: number): Promise<void> {
  await mkdir(join(directoryOf(hash), 'lib'), { recursive: true });
  await writeFile(join(directoryOf(hash), 'lib', 'module.py'), '');
  const marker = join(directoryOf(hash), markerFile);
  await writeFile(marker, '{}');
  const usedAt = new Date(Date.now() - unusedDays * dayMs);
  await utimes(marker, usedAt, usedAt);
}

it('keeps what was used within 30 days and removes the rest, whole', async () => {
  for (const [hash, days] of Object.entries({ aa: 0, bb: 29, cc: 31, dd: 400 })) await addEnvironment(hash, days);
  expect((await cleanEnvironments(cacheDir)).sort()).toEqual(['cc', 'dd']);
  expect(await left()).toEqual(['aa', 'bb']);
  expect(await readdir(join(cacheDir, 'building'))).toEqual([]);
});

it('keeps what is in use, however long ago that began, until its process is gone', async () => {
  await addEnvironment('aa', 100);
  await addEnvironment('bb', 100);
  await use(cacheDir, 'aa', undefined);
  // No process ever had this number.
  await writeFile(join(cacheDir, 'in-use', `bb.${thisBuilder().replace(/^\d+/, '999999999')}`), '');
  expect(await cleanEnvironments(cacheDir)).toEqual(['bb']);
  expect(await readdir(join(cacheDir, 'in-use'))).toEqual([`aa.${thisBuilder()}`]);
  expect(await isInUse(cacheDir, 'aa')).toBe(true);
});

it('counts a stamp as use, and searches at most once a day', async () => {
  await addEnvironment('aa', 100);
  await stamp(directoryOf('aa'));
  expect(await cleanEnvironments(cacheDir)).toEqual([]);
  await addEnvironment('bb', 100);
  expect(await cleanEnvironments(cacheDir)).toEqual([]);
  expect(await cleanEnvironments(cacheDir, { nowMs: Date.now() + 1.1 * dayMs })).toEqual(['bb']);
  expect(await left()).toEqual(['aa']);
});

it('makes a user wait while a cleaner removes the environment', async () => {
  const unmark = await markRemoving(cacheDir, 'aa');
  let begun = false;
  const using = use(cacheDir, 'aa', undefined).then(() => (begun = true));
  await use(cacheDir, 'bb', undefined);
  expect(begun).toBe(false);
  await unmark();
  await using;
  await expect(
    markRemoving(cacheDir, 'aa').then(() => use(cacheDir, 'aa', AbortSignal.abort(new Error('stopped')))),
  ).rejects.toThrow('stopped');
});

it('removes nothing that another process has found, with many of both at the same time', async () => {
  const hashes = Array.from({ length: 300 }, (_, at) => `e${at}`);
  for (const hash of hashes) await addEnvironment(hash, 100);
  const go = join(cacheDir, 'go');
  const processes = ['use', 'clean', 'use', 'clean'].map((role) => ({ role, ...start(role, go) }));
  try {
    for (const { nextLine } of processes) expect(await nextLine()).toBe('ready');
    await writeFile(go, '');
    const outcomes = await Promise.all(
      processes.map(async ({ role, nextLine }) => ({ role, names: new Set<string>(JSON.parse(await nextLine())) })),
    );
    const namesOf = (wanted: string): string[] =>
      outcomes.filter(({ role }) => role === wanted).flatMap(({ names }) => [...names]);
    const [found, removed] = [namesOf('use'), namesOf('clean')];
    expect(new Set(removed).size).toBe(removed.length);
    expect(found.filter((hash) => removed.includes(hash))).toEqual([]);
    for (const hash of found) await access(join(directoryOf(hash), 'lib', 'module.py'));
    // A test in which either list is empty proves nothing.
    expect(found.length).toBeGreaterThan(0);
    expect(removed.length).toBeGreaterThan(0);
    expect(await readdir(join(cacheDir, 'removing'))).toEqual([]);
  } finally {
    for (const { end } of processes) await end();
  }
});

function start(role: string, go: string): { nextLine: () => Promise<string>; end: () => Promise<void> } {
  const script = fileURLToPath(new URL('clean-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, role, cacheDir, go], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    nextLine: async () => String((await lines.next()).value),
    end: () => {
      child.stdin.destroy();
      child.kill('SIGKILL');
      return ended;
    },
  };
}

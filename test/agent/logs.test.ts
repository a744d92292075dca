// The files of ended tasks: bounded where lines are sent elsewhere, and all kept where readers read the files.
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { createLog } from '../../agent/logs/log.ts';
import { createLogs } from '../../agent/logs/logs.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-logs-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const discarding = { add: () => undefined };
const line = 'x'.repeat(1_000);
/** With its JSON, a line of 1,000 characters takes less than this. */
const lineBytes = 1_100;

async function filesAfter(tasks: number, isSent: boolean): Promise<string[]> {
  const logs = createLogs(directory, 10 * lineBytes);
  if (isSent) logs.sendTo(discarding);
  const open = logs.task(9_999, 1);
  open.append(
    'stdout',
    Array.from({ length: 100 }, () => line),
  );
  logs.agent().write('hello');
  for (let task = 0; task < tasks; task += 1) {
    const log = logs.task(task, 1);
    log.append('stdout', [line, line]);
    await log.close();
    await logs.task(task, 2).close();
  }
  const files = await readdir(directory);
  // The file of a running task stays, however much the task has printed.
  expect(files).toContain('9999-1.jsonl');
  expect(files).toContain('agent.jsonl');
  await open.close();
  return files.filter((file) => /^\d{1,3}-1\.jsonl$/.test(file));
}

it('files of ended tasks are bounded where lines are sent elsewhere: the oldest are removed', async () => {
  const files = await filesAfter(50, true);
  expect(files.toSorted()).toEqual(['45-1.jsonl', '46-1.jsonl', '47-1.jsonl', '48-1.jsonl', '49-1.jsonl']);
});

it('all files are kept where readers read the files', async () => {
  expect(await filesAfter(50, false)).toHaveLength(50);
});

it('a log knows the size of all its parts, and removes all of them', async () => {
  const other = createLog(join(directory, '1-10.jsonl'));
  other.append('stdout', ['of another attempt']);
  await other.close();
  const log = createLog(join(directory, '1-1.jsonl'), { partBytes: 2_000, parts: 3 });
  log.append(
    'stdout',
    Array.from({ length: 20 }, () => line),
  );
  await log.close();
  const files = (await readdir(directory)).filter((file) => file !== '1-10.jsonl');
  expect(files).toHaveLength(3);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(directory, file))).size));
  expect(log.bytes()).toBe(sizes.reduce((sum, size) => sum + size, 0));
  await log.remove();
  expect(await readdir(directory)).toEqual(['1-10.jsonl']);
  expect(await readFile(join(directory, '1-10.jsonl'), 'utf8')).toContain('of another attempt');
});

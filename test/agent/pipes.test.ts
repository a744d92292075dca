// The pipes of commands: all written data arrives, and a pipe serves another command only when no process can have it open.
import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { recordGroup } from '../../agent/processes/group-record.ts';
import { closeWriteEnd, createPipe } from '../../agent/processes/pipes.ts';
import type { Pipe } from '../../agent/processes/pipes.ts';
import { startTimeOf } from '../../agent/processes/start-time.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ropewalk-pipes-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const names = (): string[] => readdirSync(directory).sort();
const inodes = (): number[] => names().map((name) => statSync(join(directory, name)).ino);

async function read(pipe: Pipe): Promise<string> {
  let text = '';
  for await (const chunk of pipe.output) text += String(chunk);
  return text;
}

async function use(text: string): Promise<string> {
  const pipe = createPipe(directory);
  const over = closed(pipe);
  const found = read(pipe);
  writeSync(pipe.writeEnd, text);
  closeWriteEnd(pipe);
  const all = await found;
  await over;
  return all;
}

/** Subscribes before the event can have happened. */
const closed = (pipe: Pipe): Promise<unknown> => once(pipe.output, 'close');

describe('a pipe', () => {
  it('serves one command after the other, each with its own output', async () => {
    expect(await use('one')).toBe('one');
    const before = names();
    for (const text of ['two', '', 'three\n']) expect(await use(text)).toBe(text);
    expect([before.length, names()]).toEqual([2, before]);
  });

  it('is not used again while a process can still write into it', async () => {
    const pipe = createPipe(directory);
    const over = closed(pipe);
    const found = read(pipe).catch(() => 'cut off');
    const left = openSync(`/proc/self/fd/${pipe.writeEnd}`, constants.O_WRONLY);
    const used = statSync(`/proc/self/fd/${left}`).ino;
    closeWriteEnd(pipe);
    pipe.output.destroy();
    await found;
    await over;
    expect(inodes()).not.toContain(used);
    closeSync(left);
    expect(await use('next')).toBe('next');
  });

  it('is not used again while a process can still read from it', async () => {
    const pipe = createPipe(directory);
    const over = closed(pipe);
    const found = read(pipe);
    const left = openSync(`/proc/self/fd/${pipe.writeEnd}`, constants.O_RDONLY | constants.O_NONBLOCK);
    const used = statSync(`/proc/self/fd/${left}`).ino;
    closeWriteEnd(pipe);
    expect(await found).toBe('');
    await over;
    expect(inodes()).not.toContain(used);
    closeSync(left);
  });
});

// A process that may open few more files than it has: a separate program, because this one must continue.
it.each(['task', 'dask'])(
  'leaves nothing open of a %s command for which there are too few descriptors',
  async (kind) => {
    const program = fileURLToPath(new URL('few-descriptors.ts', import.meta.url));
    const limited = ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, program, directory, kind];
    for (const left of [0, 1, 2, 3]) {
      const { stdout } = await promisify(execFile)('sh', [...limited, String(left)]);
      expect({ left, ...JSON.parse(stdout) }).toEqual({ left, first: true, second: false, third: true, ends: 0 });
    }
  },
);

it('names the last process group alone, however long the names before it were', () => {
  const read = (): unknown => JSON.parse(readFileSync(join(directory, 'group.json'), 'utf8'));
  recordGroup(directory, process.pid);
  expect(read()).toEqual({ pid: process.pid, startTime: startTimeOf(process.pid) });
  recordGroup(directory, 4_194_304_000);
  recordGroup(directory, 1);
  expect(read()).toEqual({ pid: 1, startTime: startTimeOf(1) });
  expect(statSync(join(directory, 'group.json')).mode & 0o777).toBe(0o600);
});

// Logs that rotate while they are read: no line is lost or duplicated, and a notice marks deleted lines.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createLog } from '../../agent/logs/log.ts';
import { readLogs } from '../../providers/local/logs.ts';
import { watchLogs } from '../../providers/local/log-watch.ts';
import type { LogQuery } from '../../providers/provider.ts';
import { eventually } from '../support/eventually.ts';

const owner = { workspace: 'default', cluster: 12 };

let home: string;
let directory: string;
let abort: AbortController;
beforeEach(async () => {
  abort = new AbortController();
  home = await mkdtemp(join(tmpdir(), 'ropewalk-logs-'));
  directory = join(home, 'logs', 'default', '12', 'i_aaaaaaaa');
  await mkdir(directory, { recursive: true });
});
afterEach(async () => {
  abort.abort();
  await rm(home, { recursive: true, force: true });
});

async function read(query: Partial<LogQuery> = {}): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of readLogs(home, { owner, ...query })) texts.push(text);
  return texts;
}

function follow(): { seen: string[]; over: Promise<void> } {
  const seen: string[] = [];
  const over = (async () => {
    for await (const { text } of readLogs(home, { owner, follow: true, signal: abort.signal })) seen.push(text);
  })();
  return { seen, over };
}

function write(name: string, lines: number, partBytes: number, parts: number): Promise<number | null> {
  const script = fileURLToPath(new URL('logs-writer.ts', import.meta.url));
  const argv = [script, join(directory, name), lines, partBytes, parts].map(String);
  const child = spawn(process.execPath, argv, { stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', resolve));
}

const numberOf = (text: string): number => Number(text.split(' ')[0]);
const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, at) => from + at);
const notice = /^(A part|\d+ parts) of this log ha/;

describe('a follower', () => {
  it.each([700, 5_000, 40_000])(
    'of a log of parts of %i bytes sees every line once and in order',
    async (partBytes) => {
      const { seen, over } = follow();
      const lines = 5_000;
      expect(await write('3-1.jsonl', lines, partBytes, 1_000_000)).toBe(0);
      await eventually(() => seen.length >= lines);
      abort.abort();
      await over;
      expect(seen.map(numberOf)).toEqual(numbers(lines));
      expect((await readdir(directory)).length).toBeGreaterThan(10);
      expect((await read()).map(numberOf)).toEqual(numbers(lines));
    },
  );

  it('that falls behind says that lines are missing, and still sees none twice or out of order', async () => {
    const { seen, over } = follow();
    const lines = 20_000;
    expect(await write('process.jsonl', lines, 2_000, 3)).toBe(0);
    await eventually(() => seen.some((text) => numberOf(text) === lines - 1));
    abort.abort();
    await over;
    const numbered = seen.filter((text) => !notice.test(text)).map(numberOf);
    for (const [at, number] of numbered.entries()) {
      const before = numbered[at - 1] ?? -1;
      expect(number).toBeGreaterThan(before);
      // A notice marks each gap.
      if (number !== before + 1) expect(seen[seen.findIndex((text) => numberOf(text) === number) - 1]).toMatch(notice);
    }
    expect(await readdir(directory)).toHaveLength(3);
  });

  it('finds the logs of instances and of clusters that come later', async () => {
    await rm(join(home, 'logs'), { recursive: true });
    const { seen, over } = follow();
    for (const [at, instance] of ['i_bbbbbbbb', 'i_cccccccc'].entries()) {
      const place = join(home, 'logs', 'default', '12', instance);
      await mkdir(place, { recursive: true });
      const log = createLog(join(place, 'agent.jsonl'));
      log.write(`hello ${instance}`);
      await eventually(() => seen.length === at * 2 + 1);
      log.write('more');
      await eventually(() => seen.length === at * 2 + 2);
      await log.close();
    }
    abort.abort();
    await over;
    expect(seen).toEqual(['hello i_bbbbbbbb', 'more', 'hello i_cccccccc', 'more']);
  });

  it('learns which of many files has changed, and reads all of them only now and then', async () => {
    const watch = watchLogs(abort.signal);
    try {
      watch.add(directory);
      await writeFile(join(directory, '7-1.jsonl'), 'x');
      const changes = await watch.next();
      expect([changes.all, [...changes.files].map(([place, files]) => [place, [...files]])]).toEqual([
        false,
        [[directory, ['7-1.jsonl']]],
      ]);
      expect((await watch.next()).all).toBe(true);
    } finally {
      watch.close();
    }
  });
});

describe('a log whose oldest parts are gone', () => {
  it('begins with a notice, at the time of the first line that is left', async () => {
    const log = createLog(join(directory, '0-1.jsonl'), { partBytes: 100, parts: 2 });
    for (const at of numbers(50)) log.append('stdout', [`${at} of fifty`]);
    await log.close();
    const [first, ...rest] = await read();
    expect(first).toMatch(notice);
    expect(rest.map(numberOf)).toEqual(numbers(rest.length, 50 - rest.length));
    expect(rest.length).toBeGreaterThan(2);
    expect(await read({ tasks: new Set([0]) })).toHaveLength(rest.length + 1);
    expect(await read({ tasks: new Set([1]) })).toEqual([]);
  });
});

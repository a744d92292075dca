// The agent's smaller parts: the log's bounds, lines cut from streams, retries of HTTP, the claim, the process's name.
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { jsonBy } from '../../agent/api-client/client.ts';
import { createApiClient } from '../../agent/api-client/client.ts';
import { claimInstance } from '../../agent/lifecycle/claim.ts';
import { copyLines, maxLineChars } from '../../agent/logs/lines.ts';
import { createLog } from '../../agent/logs/log.ts';
import type { LogLimits } from '../../agent/logs/log.ts';
import { startTimeOf as agentStartTimeOf } from '../../agent/processes/start-time.ts';
import { startTimeOf } from '../../providers/local/processes.ts';
import { startAgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-parts-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function copied(chunks: Buffer[], limits?: LogLimits): Promise<{ s: string; x: string }[]> {
  const name = String(Math.random()).slice(2);
  const log = createLog(join(directory, `${name}.jsonl`), limits);
  await copyLines(Readable.from(chunks), 'stdout', log);
  await log.close();
  const files = (await readdir(directory)).filter((file) => file.startsWith(name)).sort(byPart);
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  const text = texts.join('');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

const byPart = (one: string, other: string): number => partOf(one) - partOf(other);
const partOf = (file: string): number => Number(/\.(\d+)\.jsonl$/.exec(file)?.[1] ?? 0);

describe('output', () => {
  it('is put together again from any pieces, also within a character', async () => {
    const bytes = Buffer.from('first ☃\n\nthird\r\nlast');
    for (const size of [1, 2, 3, 7, 100]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect((await copied(chunks)).map((line) => line.x)).toEqual(['first ☃', '', 'third\r', 'last']);
    }
  });

  it('without any newline is cut into pieces', async () => {
    const lines = await copied([Buffer.alloc(maxLineChars * 2 + 5, 'x')]);
    expect(lines.map((line) => line.x.length)).toEqual([maxLineChars, maxLineChars, 5]);
  });

  it('over the limit loses its oldest lines, a part at a time, and nothing of the rest', async () => {
    const numbered = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join('');
    const lines = await copied([Buffer.from(numbered)], { partBytes: 500, parts: 3 });
    expect(lines.length).toBeGreaterThan(15);
    expect(lines.length).toBeLessThan(50);
    expect(lines.map((line) => line.x)).toEqual(
      Array.from({ length: lines.length }, (_, at) => `line ${100 - lines.length + at}`),
    );
  });

  it('makes the writer wait while the disk is behind', async () => {
    const path = join(directory, 'waits.jsonl');
    const log = createLog(path);
    expect(log.append('stdout', ['x'.repeat(1024 * 1024)])).toBe(false);
    await log.drained();
    expect(log.append('stdout', ['y'])).toBe(true);
    await log.close();
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(3);
  });

  it('that the disk refuses is lost and counted, and later lines are written', async () => {
    const place = join(directory, 'comes-later');
    const log = createLog(join(place, 'x.jsonl'));
    log.append('stdout', ['x'.repeat(1024 * 1024), 'second']);
    await log.drained();
    expect(log.append('stdout', ['third'])).toBe(true);
    await mkdir(place);
    const text = (): Promise<string> => readFile(join(place, 'x.jsonl'), 'utf8');
    await eventually(async () => {
      log.append('stdout', ['later']);
      return (await text()).includes('later');
    });
    await log.close();
    const [first, ...rest] = (await text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).x);
    expect(first).toMatch(/^\d+ lines were lost: they could not be written \(ENOENT/);
    expect(Number.parseInt(first, 10)).toBeGreaterThanOrEqual(3);
    expect(new Set(rest)).toEqual(new Set(['later']));
  });

  it('goes on after a full disk', async () => {
    const path = join(directory, 'full.jsonl');
    await symlink('/dev/full', path);
    const log = createLog(path);
    log.append('stdout', ['x'.repeat(1024 * 1024)]);
    await log.drained();
    await rm(path);
    await eventually(async () => {
      log.append('stdout', ['later']);
      return (await readFile(path, 'utf8')).includes('later');
    });
    await log.close();
    expect(await readFile(path, 'utf8')).toContain('could not be written (ENOSPC');
  });

  it('that was lost last is counted when the log is closed', async () => {
    const place = join(directory, 'comes-at-the-end');
    const log = createLog(join(place, 'x.jsonl'));
    log.append('stdout', ['one', 'two']);
    await log.drained();
    await eventually(() => log.append('stdout', ['x']) && !log.append('stdout', [' '.repeat(300_000)]));
    await log.drained();
    await mkdir(place);
    await log.close();
    expect(await readFile(join(place, 'x.jsonl'), 'utf8')).toMatch(/ lines were lost: /);
  });
});

describe('the API client', () => {
  it('waits as long as Retry-After says, up to a limit, and reports an outage once', async () => {
    const api = await startAgentApi();
    try {
      const troubles: string[] = [];
      const client = createApiClient({
        apiUrl: api.url,
        signal: AbortSignal.timeout(60_000),
        onTrouble: (text) => troubles.push(text),
      });
      api.failures.push({ status: 503, headers: { 'retry-after': '1' } }, { status: 500 }, { status: 502 });
      const reply = await client.call({
        method: 'GET',
        path: '/v1/x',
        token: () => 'none',
        read: jsonBy((json) => json),
      });
      expect(reply).toEqual({ kind: 'unauthenticated' });
      const [first, second] = api.arrivals;
      expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(990);
      expect(troubles).toHaveLength(2);
      expect(troubles.join()).not.toContain('none');
    } finally {
      await api.close();
    }
  });

  it('gives up at once when it is aborted', async () => {
    const abort = new AbortController();
    // The discard port of this machine is closed.
    const client = createApiClient({
      apiUrl: 'http://127.0.0.1:9',
      signal: abort.signal,
      onTrouble: () => abort.abort(),
    });
    await expect(
      client.call({ method: 'GET', path: '/', token: () => '', read: jsonBy((json) => json) }),
    ).rejects.toBeDefined();
  });
});

it('one of many processes claims an instance', async () => {
  const claims = await Promise.all(Array.from({ length: 20 }, (_, at) => claimInstance(directory, `boot-${at}`)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  const claim: unknown = JSON.parse(await readFile(join(directory, 'claim.json'), 'utf8'));
  expect(claim).toMatchObject({ pid: process.pid, startTime: await startTimeOf(process.pid) });
});

it('the agent and the provider read the same start time of a process', async () => {
  expect(agentStartTimeOf(process.pid)).toBe(await startTimeOf(process.pid));
  expect(agentStartTimeOf(process.ppid)).not.toBe('');
});

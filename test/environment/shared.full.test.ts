// Instances with caches of their own need one environment: the real uv, a real package index that counts, the real API over HTTP.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { serve } from '@hono/node-server';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

import type { Environment } from '../../agent/runtimes/environment/request.ts';
import { buildLeaseMs } from '../../domain/environment/limits.ts';
import { createDaskInstance } from '../api/dask-support.ts';
import { sharingApi } from '../builders/shared-builds.ts';
import { eventually } from '../support/eventually.ts';
import { openPrivateIndex, type PrivateIndex } from '../support/private-index.ts';
import type { SharedProcessInput } from './shared-process.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('shared-process.ts', import.meta.url));
let scratch: string;
let index: PrivateIndex;
let sharing: Awaited<ReturnType<typeof sharingApi>>;
let apiUrl: string;
let server: ReturnType<typeof serve>;
const ending: (() => Promise<void>)[] = [];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-sharing-'));
  index = await openPrivateIndex(scratch);
  sharing = await sharingApi();
  server = serve({ fetch: sharing.api.app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  apiUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});
afterAll(async () => {
  server.close();
  await index.close();
  await sharing.close();
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
});

interface Instance {
  printed: (text: string) => Promise<string>;
  made: () => Promise<Environment>;
  notes: () => string[];
  /** The texts that users see. */
  texts: () => string[];
  cacheDir: string;
  /** Kills it with all its children, as a lost machine. */
  kill: () => Promise<void>;
}

/** An instance of a new cluster with this software. */
async function start(software: object, holdAt: string | null = null, url = apiUrl): Promise<Instance> {
  const { api } = sharing;
  const asked = { requirements: ['private-plans'], pinned: true, indexes: [indexOf()], ...software };
  const { token } = await createDaskInstance(api, await api.startCluster({ workers: 0, software: asked }), 0);
  const cacheDir = await mkdtemp(join(scratch, 'cache-'));
  const input: SharedProcessInput = { apiUrl: url, token, cacheDir, holdAt, ...asked };
  const child = spawn(process.execPath, [program, JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const printed = (text: string): Promise<string> =>
    eventually(() => lines.find((line) => line.includes(text)), { timeoutMs: 90_000, intervalMs: 5 });
  const kill = async (): Promise<void> => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
    await ended;
  };
  ending.push(kill);
  return {
    printed,
    made: async () => JSON.parse(await printed('"made"')).made,
    texts: () => lines.flatMap((line) => JSON.parse(line).text ?? []),
    notes: () => lines.flatMap((line) => JSON.parse(line).note?.code ?? []),
    cacheDir,
    kill,
  };
}

const indexOf = () => ({ url: index.url, username: index.username, password: index.password, default: true });

const imported = async ({ pythonPath }: Environment): Promise<string> =>
  (await run(pythonPath, ['-c', 'import private_plans; print(private_plans.value)'])).stdout.trim();

it('is built once by many instances that start together, and works on each of them', async () => {
  // Credentials are not part of the content's identity: the index knows each instance by its own.
  const users = ['ada', 'bob', 'cleo', 'dan', 'eve'];
  const instances = await Promise.all(users.map((username) => start({ indexes: [{ ...indexOf(), username }] })));
  const made = await Promise.all(instances.map((each) => each.made()));
  expect(made.filter(({ downloaded }) => downloaded === null)).toHaveLength(1);
  expect(new Set(made.map(({ hash }) => hash)).size).toBe(1);
  for (const each of made) expect(await imported(each)).toBe('from the private index');
  expect(instances.flatMap((each) => each.notes()).toSorted()).toEqual([
    'ENVIRONMENT_BUILT',
    ...Array.from({ length: 4 }, () => 'ENVIRONMENT_DOWNLOADED'),
  ]);
  // Waiting instances show the builder's stage.
  const texts = instances.flatMap((each) => each.texts());
  expect(texts.some((text) => /^another instance makes it, now (getting|installing|compiling)/.test(text))).toBe(true);
  expect([...index.downloadedBy()]).toEqual([users[made.findIndex(({ downloaded }) => downloaded === null)]]);
  // The instances that fetched it have not even installed uv; no archive remains.
  for (const [at, { cacheDir }] of instances.entries()) {
    expect(await readdir(join(cacheDir, 'building'))).toEqual([]);
    const tools = await readdir(join(cacheDir, 'tools')).catch(() => []);
    expect(tools.length).toBe(made[at]?.downloaded === null ? 1 : 0);
  }
  // Its programs find their interpreter, and its packages are compiled, as on the builder.
  const [fetched] = made.filter(({ downloaded }) => downloaded !== null);
  const script = 'import private_plans, os, importlib.util as u; p = u.cache_from_source(private_plans.__file__);';
  const check = `${script} s = os.stat(private_plans.__file__); d = open(p, "rb").read(16); print(int.from_bytes(d[8:12], "little") == int(s.st_mtime))`;
  expect((await run(fetched?.pythonPath ?? '', ['-c', check])).stdout.trim()).toBe('True');
});

it('is built by another instance when the builder is killed, and what the dead one had begun is never seen', async () => {
  const software = { requirements: ['private-plans>=1'] };
  const killed = await start(software, 'compile');
  await killed.printed('"stage":"compile"');
  const other = await start(software);
  await other.printed('"stage":"wait"');
  await killed.kill();
  expect(other.notes()).toEqual([]);
  sharing.api.clock.offsetMs += buildLeaseMs;
  const made = await other.made();
  expect(made.downloaded).toBeNull();
  expect(await imported(made)).toBe('from the private index');
  const third = await (await start(software)).made();
  expect(third.downloaded).not.toBeNull();
  expect(await imported(third)).toBe('from the private index');
});

it('is built anew, and said so, where the archive is damaged', async () => {
  const software = { requirements: ['private-plans<2'] };
  await (await start(software)).made();
  const folder = join(sharing.directory, 'environments', 'default');
  const archives = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  for (const each of archives) {
    const path = join(each.parentPath, each.name);
    const bytes = await readFile(path);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 0xff;
    await writeFile(path, bytes);
  }
  const other = await start(software);
  const made = await other.made();
  expect(made.downloaded).toBeNull();
  expect(await imported(made)).toBe('from the private index');
  expect(other.notes()).toEqual(['ENVIRONMENT_NOT_SHARED', 'ENVIRONMENT_BUILT']);
  expect(await other.printed('ENVIRONMENT_NOT_SHARED')).toContain('its SHA-256 is not the recorded one');
  expect((await (await start(software)).made()).downloaded).not.toBeNull();
});

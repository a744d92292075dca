// Who uses which environment, so that none is removed while it is used. A user leaves a record with its process's name,
// then looks for a remover; a remover leaves its mark, then looks for users (clean.ts). Of two at the same time at least one
// sees the other, without a lock that a crash could leave behind: a record or mark counts as long as its process lives.
import { lstat, lutimes, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isBuilding, thisBuilder } from './builder.ts';

export const markerFile = 'ropewalk-environment.json';

/** From now on, for as long as this process lives, the environment stays if it is there. */
export async function use(cacheDir: string, hash: string, signal: AbortSignal | undefined): Promise<void> {
  await leave(join(cacheDir, 'in-use'), hash);
  const deadlineMs = performance.now() + maxWaitMs;
  while ((await living(join(cacheDir, 'removing'), hash)) && performance.now() < deadlineMs) {
    signal?.throwIfAborted();
    await sleep(checkEveryMs);
  }
}

/** Notes in its marker's time that it is used, or still used: its content is never changed. */
export async function stamp(directory: string): Promise<void> {
  const now = new Date();
  // Its owner may have put a link there.
  await lutimes(join(directory, markerFile), now, now).catch(() => undefined);
}

/** When it was last said to be used; 0 when that is unknown. */
export const stampedMs = (directory: string): Promise<number> =>
  lstat(join(directory, markerFile)).then(
    (found) => found.mtimeMs,
    () => 0,
  );

/** True while a process that uses it lives. Records of dead ones are removed. */
export const isInUse = (cacheDir: string, hash: string): Promise<boolean> => living(join(cacheDir, 'in-use'), hash);

/** Keeps new users waiting until the mark is taken away. */
export async function markRemoving(cacheDir: string, hash: string): Promise<() => Promise<void>> {
  const path = await leave(join(cacheDir, 'removing'), hash);
  return () => rm(path, { force: true });
}

/** A remover only renames while its mark stands. One that does not get on is not waited for any longer. */
const maxWaitMs = 60_000;
const checkEveryMs = 50;
/** What a process of another machine left is believed this long. */
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

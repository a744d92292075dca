// Removes Python environments that were not used for a month, never one in use; in-use.ts describes the protocol between users
// and removers. Several processes may clean at the same time.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { removeDirectory } from '../../processes/hand-over.ts';
import type { TaskUser } from '../../processes/task-user.ts';
import { isInUse, markRemoving, stampedMs } from './in-use.ts';

/** An environment is rebuilt in less than a minute and takes some hundred megabytes. */
const keptMs = 30 * 86_400_000;
const cleanEveryMs = 86_400_000;

/** Runs at most once a day per cache. Resolves to the names of the removed ones. */
export async function cleanEnvironments(
  cacheDir: string,
  { nowMs = Date.now(), user = null }: { nowMs?: number; user?: TaskUser | null } = {},
): Promise<string[]> {
  const cleaned = join(cacheDir, 'cleaned');
  const cleanedMs = await stat(cleaned).then(
    (found) => found.mtimeMs,
    () => 0,
  );
  if (nowMs - cleanedMs < cleanEveryMs) return [];
  await writeFile(cleaned, '');
  const removed: string[] = [];
  for (const hash of await readdir(join(cacheDir, 'environments')).catch(() => [])) {
    if (await removeUnused(cacheDir, hash, { nowMs, user })) removed.push(hash);
  }
  return removed;
}

async function removeUnused(
  cacheDir: string,
  hash: string,
  { nowMs, user }: { nowMs: number; user: TaskUser | null },
): Promise<boolean> {
  const directory = join(cacheDir, 'environments', hash);
  const isOld = async (): Promise<boolean> => nowMs - (await stampedMs(directory)) > keptMs;
  if (!(await isOld())) return false;
  const unmark = await markRemoving(cacheDir, hash);
  // The builds' directory for removals: if this process is killed now, the next build finishes the removal.
  const away = join(cacheDir, 'building', `removed.${randomBytes(6).toString('hex')}`);
  try {
    if ((await isInUse(cacheDir, hash)) || !(await isOld())) return false;
    await mkdir(join(cacheDir, 'building'), { recursive: true });
    await rename(directory, away);
  } catch {
    // Another process has already removed it.
    return false;
  } finally {
    await unmark();
  }
  // The next build removes files that are still being written there.
  await removeDirectory(away, user).catch(() => undefined);
  return true;
}

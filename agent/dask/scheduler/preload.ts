// Writes the scheduler's preload beside an instance's other files. When run from sources, the texts are the files beside this
// one; the agent's build embeds them as `ROPEWALK_PRELOAD_FILES`.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freshPath, handOver } from '../../processes/hand-over.ts';
import type { TaskUser } from '../../processes/task-user.ts';

/** Name -> text. esbuild's `define` sets it; it does not exist outside a bundle. */
declare const ROPEWALK_PRELOAD_FILES: Record<string, string> | undefined;

const main = 'ropewalk_preload.py';
const names = [
  ...[main, 'ropewalk_orders.py', 'ropewalk_jupyter.py', 'ropewalk_memory.py', 'ropewalk_usage.py'],
  'ropewalk_watchers.py',
] as const;

/** The texts, for the build of the bundle and for running from sources. */
export async function readPreload(): Promise<Record<string, string>> {
  if (typeof ROPEWALK_PRELOAD_FILES !== 'undefined') return ROPEWALK_PRELOAD_FILES;
  const texts = names.map(async (name) => [name, await readFile(new URL(name, import.meta.url), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}

/** Writes into a new directory below `work`, for `user`; null for the agent's own user. Returns the path for `--preload`. */
export async function writePreload(work: string, user: TaskUser | null): Promise<string> {
  const directory = freshPath(work, 'preload');
  await mkdir(directory, { mode: 0o700 });
  for (const [name, text] of Object.entries(await readPreload())) {
    await writeFile(join(directory, name), text, { mode: 0o600, flag: 'wx' });
  }
  await handOver(user, directory);
  return join(directory, main);
}

// The control group of an instance, which its agent creates where the system allows it (agent/processes/control-group.ts). It
// holds every process that the instance started, whatever their environment.
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Process ids of the group and its descendants; empty when the group does not exist. */
export async function membersOf(path: string): Promise<number[]> {
  try {
    const pids = (await readFile(join(path, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean).map(Number);
    const below = await Promise.all((await childrenOf(path)).map(membersOf));
    return [...pids, ...below.flat()];
  } catch {
    return [];
  }
}

/** A group with members stays. */
export async function removeControlGroup(path: string): Promise<void> {
  for (const child of await childrenOf(path).catch(() => [])) await removeControlGroup(child);
  await rmdir(path).catch(() => undefined);
}

/** Accepts only the group of this very instance: the instance's tasks can write its record. */
export const isGroupOf = (id: string, path: string): boolean =>
  path.startsWith('/sys/fs/cgroup/') && !path.split('/').includes('..') && basename(path) === `ropewalk-${id}`;

async function childrenOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

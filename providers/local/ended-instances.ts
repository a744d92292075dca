// Removes the directories of instances a while after their end, because every listing reads all directories. A record of each
// stays much longer, because a repeated launch must not start it again. Never touches an instance with a running process, nor
// logs.
//   $ROPEWALK_HOME/ended/{month}/{id}     the record: the reason of a refused instance, or empty
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { endedInstanceKeptMs, endedMarkKeptMs, maxEndedPerRound } from './limits.ts';
import { livingProcesses } from './describe.ts';
import { exists, instancePaths, listInstanceIds, namesIn, readRefusal, writeOnce } from './files.ts';
import type { Refusal } from './files.ts';
import { scanProcesses } from './processes.ts';
import { removeTree } from './remove-tree.ts';

/** Processes a bounded batch of the ids after `after`. Returns the start of the next batch; empty for the beginning. */
export async function removeEnded(home: string, after: string, nowMs: number): Promise<string> {
  await removeOldRecords(home, nowMs);
  const ids = (await listInstanceIds(home)).filter((id) => id > after).sort();
  const batch = ids.slice(0, maxEndedPerRound);
  const old: string[] = [];
  for (const id of batch) {
    if ((await lastWrittenMs(instancePaths(home, id).root)) < nowMs - endedInstanceKeptMs) old.push(id);
  }
  const scan = old.length === 0 ? [] : await scanProcesses();
  for (const id of old) {
    const { processes } = await livingProcesses(home, id, scan);
    // A directory that cannot be removed is retried in a later round, and does not block others.
    if (processes.length === 0) await removeInstance(home, id, nowMs).catch(() => undefined);
  }
  return batch.length < ids.length ? (batch.at(-1) ?? '') : '';
}

/** The record of an instance whose directory has been removed; null for any other. */
export async function endedRecordOf(home: string, id: string): Promise<{ refusal: Refusal | null } | null> {
  for (const month of await monthsIn(home)) {
    const record = join(recordsOf(home), month, id);
    if (await exists(record)) return { refusal: await readRefusal(record) };
  }
  return null;
}

const recordsOf = (home: string): string => join(home, 'ended');

/** Other programs may add files to any directory. */
const monthsIn = async (home: string): Promise<string[]> =>
  (await namesIn(recordsOf(home))).filter((name) => /^\d{4}-\d{2}$/.test(name));

/** In UTC. Sorting the names sorts the months. */
const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/** Writes the record first: after a crash in between both exist. */
async function removeInstance(home: string, id: string, nowMs: number): Promise<void> {
  const { root, refused } = instancePaths(home, id);
  const why = (await readRefusal(refused)) === null ? '' : await readFile(refused, 'utf8');
  await writeOnce(join(recordsOf(home), monthOf(nowMs), id), why);
  await removeTree(root);
}

/** Removes whole months without reading each record. */
async function removeOldRecords(home: string, nowMs: number): Promise<void> {
  const oldest = monthOf(nowMs - endedMarkKeptMs);
  for (const month of await monthsIn(home)) {
    if (month < oldest) await removeTree(join(recordsOf(home), month));
  }
}

/** Time of the last write to the directory or its direct entries; a working agent writes there. */
async function lastWrittenMs(root: string): Promise<number> {
  const paths = [root, ...(await namesIn(root)).map((name) => join(root, name))];
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}

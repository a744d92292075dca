// Removes what instances have left on this machine a while after they ended, or every look at those that live would read
// all that ever were. Of each a mark stays, for much longer: a launch that is repeated must not start it again. Never touches
// an instance of which anything lives, nor logs.
//   $ROPEWALK_HOME/ended/{month}/{id}     the mark: why it was refused, or empty
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { endedInstanceKeptMs, endedMarkKeptMs, maxEndedLooks } from '../../domain/limits.ts';
import { livingProcesses } from './describe.ts';
import { exists, instancePaths, listInstanceIds, namesIn, readRefusal, writeOnce } from './files.ts';
import type { Refusal } from './files.ts';
import { scanProcesses } from './processes.ts';
import { removeTree } from './remove-tree.ts';

/** One bounded round over those whose names follow `after`; where the next begins, at the beginning again when empty. */
export async function removeEnded(home: string, after: string, nowMs: number): Promise<string> {
  await removeOldMarks(home, nowMs);
  const ids = (await listInstanceIds(home)).filter((id) => id > after).sort();
  const looked = ids.slice(0, maxEndedLooks);
  const old: string[] = [];
  for (const id of looked) {
    if ((await lastWrittenMs(instancePaths(home, id).root)) < nowMs - endedInstanceKeptMs) old.push(id);
  }
  const scan = old.length === 0 ? [] : await scanProcesses();
  for (const id of old) {
    const { processes } = await livingProcesses(home, id, scan);
    // What cannot be removed now is met again: it must not keep the others.
    if (processes.length === 0) await removeInstance(home, id, nowMs).catch(() => undefined);
  }
  return looked.length < ids.length ? (looked.at(-1) ?? '') : '';
}

/** Of an instance whose directory has been removed, what its launch must be told; null of any other. */
export async function markOf(home: string, id: string): Promise<{ refusal: Refusal | null } | null> {
  for (const month of await monthsIn(home)) {
    const mark = join(marksOf(home), month, id);
    if (await exists(mark)) return { refusal: await readRefusal(mark) };
  }
  return null;
}

const marksOf = (home: string): string => join(home, 'ended');

/** Others put files of theirs into any directory. */
const monthsIn = async (home: string): Promise<string[]> =>
  (await namesIn(marksOf(home))).filter((name) => /^\d{4}-\d{2}$/.test(name));

/** Of Greenwich: the names of months sort as they follow each other. */
const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/** The mark comes first: after a crash in between there are both. */
async function removeInstance(home: string, id: string, nowMs: number): Promise<void> {
  const { root, refused } = instancePaths(home, id);
  const why = (await readRefusal(refused)) === null ? '' : await readFile(refused, 'utf8');
  await writeOnce(join(marksOf(home), monthOf(nowMs), id), why);
  await removeTree(root);
}

/** By whole months, so that nobody has to look at each. */
async function removeOldMarks(home: string, nowMs: number): Promise<void> {
  const oldest = monthOf(nowMs - endedMarkKeptMs);
  for (const month of await monthsIn(home)) {
    if (month < oldest) await removeTree(join(marksOf(home), month));
  }
}

/** Of the directory and what lies in it directly: an agent that works writes there. */
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

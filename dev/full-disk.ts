// Finds the full disk behind a failed start or run. Write errors name no file, and those of SQLite and Temporal are only texts.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';

/** Whether a line of a program reports a full disk. */
export const saysDiskIsFull = (line: string): boolean => full.test(line);

const full = /ENOSPC|EDQUOT|no space left on device|disk quota exceeded|database or disk is full|disk is full/i;

/** Bytes. With less, neither a database nor a log can grow. */
const nearlyFull = 4 * 1024 * 1024;

/** Null when the error does not come from a full disk. `places` are the directories that a start writes to. */
export async function fullDiskError(error: unknown, places: readonly string[]): Promise<RopewalkError | null> {
  const said = reasonOf(error);
  // An unexplained error may hide it: Temporal answers "shard status unknown" when it cannot write.
  const isUnexplained = error instanceof Error && !(error instanceof RopewalkError);
  if (said === null && !isUnexplained) return null;
  const found = await Promise.all(places.map(fullness));
  const named = found.filter((each) => each !== null);
  if (said === null && named.length === 0) return null;
  const why = said ?? String(error).split('\n')[0];
  const where = named.length === 0 ? `one of ${places.join(', ')}` : named.join('; ');
  return new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: `a disk is full: ${where} (${why})`,
      hint: 'Free some space there, then start again: ropewalk dev. What is stored is kept.',
    },
    { cause: error },
  );
}

/** The line that reports a full disk. */
function reasonOf(error: unknown): string | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    const line = each.message.split('\n').find(saysDiskIsFull);
    if (line !== undefined) return line.trim().slice(0, 300);
  }
  return null;
}

async function fullness(place: string): Promise<string | null> {
  const disk = await statfs(place).catch(() => null);
  // A missing directory will be created on the disk of its parent.
  if (disk === null) return dirname(place) === place ? null : fullness(dirname(place));
  const bytes = disk.bavail * disk.bsize;
  if (bytes < nearlyFull) return `${place} has ${Math.floor(bytes / 1024)} KiB left`;
  // File systems that count no files report 0 of 0.
  return disk.files > 0 && disk.ffree < fewFiles ? `${place} has room for ${disk.ffree} more files` : null;
}

const fewFiles = 16;

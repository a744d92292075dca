// Finds the final records of a window of task indices among a job's archive pages. Pages hold records in the order in
// which tasks ended, so any page may hold any index; tasks mostly end in order, so the likeliest page is read first.
import { RopewalkError } from '../../domain/errors.ts';
import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageSize } from '../../domain/limits.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import type { Objects } from '../../platform/objects/objects.ts';

export interface TaskRecords {
  /** The records of `wanted` indices that are in the first `pages` pages. */
  find(job: { workspace: string; number: number; pages: number }, wanted: number[]): Promise<Map<number, TaskRecord>>;
}

/** A page never changes once it is written: the cache only has a size. */
export function createTaskRecords(objects: Pick<Objects, 'get'>): TaskRecords {
  const cache = new Map<string, TaskRecord[]>();

  const readPage = async (key: string): Promise<TaskRecord[]> => {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const bytes = await objects.get(key);
    if (bytes === null) throw pageMissing();
    const records = parseOwnPage(bytes);
    cache.set(key, records);
    const [oldest] = cache.keys();
    if (cache.size > maxCachedPages && oldest !== undefined) cache.delete(oldest);
    return records;
  };

  return {
    async find({ workspace, number, pages }, wanted) {
      const missing = new Set(wanted);
      const found = new Map<number, TaskRecord>();
      for (const page of byLikelihood(pages, wanted[0] ?? 0)) {
        if (missing.size === 0) break;
        for (const record of await readPage(taskPageKey(workspace, number, page))) {
          if (missing.delete(record.task)) found.set(record.task, record);
        }
      }
      return found;
    },
  };
}

const maxCachedPages = 200;

function byLikelihood(pages: number, firstIndex: number): number[] {
  const guess = Math.floor(firstIndex / taskPageSize);
  return Array.from({ length: pages }, (_, page) => page).sort((a, b) => Math.abs(a - guess) - Math.abs(b - guess));
}

/** Written by our own activity from the same type, and nobody else may write there. */
function parseOwnPage(bytes: Uint8Array): TaskRecord[] {
  const records: TaskRecord[] = JSON.parse(Buffer.from(bytes).toString('utf8'));
  return records;
}

const pageMissing = () =>
  new RopewalkError(
    { code: 'UNAVAILABLE', message: 'The archived task records cannot be read now.', hint: 'Try again.' },
    { retryAfterMs: 1_000 },
  );

// Finds the final records of a window of task indices among a job's archive pages. Pages hold records in the order in
// which tasks ended, so any page may hold any index; tasks mostly end in order, so the likeliest page is read first.
import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageSize } from '../../domain/job/limits.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { type DamageReport, parseObject } from '../damaged-objects.ts';

export interface TaskRecords {
  /** The records of `wanted` indices that are in the first `pages` pages, and how many of these pages cannot be read. */
  find(job: { workspace: string; number: number; pages: number }, wanted: number[]): Promise<FoundRecords>;
}

export interface FoundRecords {
  records: Map<number, TaskRecord>;
  unreadablePages: number;
}

/** A page never changes once it is written: the cache only has a size. */
export function createTaskRecords(objects: Pick<Objects, 'get'>, damaged: DamageReport): TaskRecords {
  const cache = new Map<string, TaskRecord[]>();

  const readPage = async (key: string): Promise<TaskRecord[] | null> => {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const bytes = await objects.get(key);
    if (bytes === null) damaged(key, new Error('the object is missing'));
    const records = bytes === null ? null : parseObject(key, bytes, { parse: parseOwnPage, report: damaged });
    if (records === null) return null;
    cache.set(key, records);
    const [oldest] = cache.keys();
    if (cache.size > maxCachedPages && oldest !== undefined) cache.delete(oldest);
    return records;
  };

  return {
    async find({ workspace, number, pages }, wanted) {
      const missing = new Set(wanted);
      const found: FoundRecords = { records: new Map(), unreadablePages: 0 };
      for (const page of byLikelihood(pages, wanted[0] ?? 0)) {
        if (missing.size === 0) break;
        const records = await readPage(taskPageKey(workspace, number, page));
        if (records === null) found.unreadablePages += 1;
        for (const record of records ?? []) if (missing.delete(record.task)) found.records.set(record.task, record);
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

/** Written by our own activity from the same type. */
function parseOwnPage(json: unknown): TaskRecord[] {
  if (!Array.isArray(json)) throw new Error('the object is no page of task records');
  return json;
}

// The final records of a job's tasks, from the pages of the archive. Pages contain records in the order in which tasks ended, so any page may contain
// any index. A few bytes a task are cached: how it ended, and the page of its record.
import { taskPageSize } from '../../domain/job/limits.ts';
import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { type DamageReport, parseObject } from '../damaged-objects.ts';

export interface TaskRecords {
  /** The records of the `wanted` indices in the job's pages, and the number of unreadable pages among those read for them. */
  find(job: ArchivedJob, wanted: readonly number[]): Promise<FoundRecords>;
  /** The ends of all tasks with a record in the job's pages. Must not be changed. */
  ends(job: ArchivedJob): Promise<{ ends: TaskEnds; unreadablePages: number }>;
}

export interface ArchivedJob {
  workspace: string;
  number: number;
  tasks: number;
  pages: number;
}

export interface FoundRecords {
  records: Map<number, TaskRecord>;
  unreadablePages: number;
}

export interface TaskEnds {
  /** By index: 0 without a record, else one of `endCodes`. */
  codes: Uint8Array;
  /** By index: from the start to the end of the last attempt; -1 when one of them is missing. */
  durationsMs: Float32Array;
  /** By index: 0 without a record. */
  endedAtMs: Float64Array;
}

export const endCodes = { done: 1, cancelled: 2, error: 7 } as const;

export const durationOf = ({ startedAtMs, endedAtMs }: Pick<TaskRecord, 'startedAtMs' | 'endedAtMs'>): number =>
  startedAtMs === null ? -1 : endedAtMs - startedAtMs;

interface Index extends TaskEnds {
  pages: Uint16Array;
  isIndexed: Set<number>;
  /** The newest read of all pages; one at a time. */
  reading: Promise<unknown>;
}

/** A written page never changes, so caches need only a size limit. */
export function createTaskRecords(objects: Pick<Objects, 'get'>, damaged: DamageReport): TaskRecords {
  const cache = new Map<string, TaskRecord[]>();
  const indices = new Map<number, Index>();

  const indexOf = ({ number, tasks }: ArchivedJob): Index => {
    const known = indices.get(number);
    const index = known?.codes.length === tasks ? known : emptyIndex(tasks);
    indices.delete(number);
    indices.set(number, index);
    let sum = [...indices.values()].reduce((all, { codes }) => all + codes.length, 0);
    for (const [oldest, { codes }] of indices) {
      if (sum <= maxIndexedTasks || oldest === number) break;
      indices.delete(oldest);
      sum -= codes.length;
    }
    return index;
  };

  const readPage = async ({ workspace, number }: ArchivedJob, page: number, index: Index) => {
    const key = taskPageKey(workspace, number, page);
    const known = cache.get(key);
    if (known !== undefined && index.isIndexed.has(page)) return known;
    const bytes = await objects.get(key);
    if (bytes === null) damaged(key, new Error('the object is missing'));
    const records = bytes === null ? null : parseObject(key, bytes, { parse: parseOwnPage, report: damaged });
    if (records === null) return null;
    addToIndex(index, page, records);
    return records;
  };

  const keep = (key: string, records: TaskRecord[]): void => {
    cache.set(key, records);
    const [oldest] = cache.keys();
    if (cache.size > maxCachedPages && oldest !== undefined) cache.delete(oldest);
  };

  return {
    async find(job, wanted) {
      const index = indexOf(job);
      const missing = new Set(wanted);
      const found: FoundRecords = { records: new Map(), unreadablePages: 0 };
      const take = async (page: number): Promise<void> => {
        const records = await readPage(job, page, index);
        if (records === null) found.unreadablePages += 1;
        else keep(taskPageKey(job.workspace, job.number, page), records);
        for (const record of records ?? []) if (missing.delete(record.task)) found.records.set(record.task, record);
      };
      const known = wanted.filter((task) => index.codes[task] !== 0).map((task) => index.pages[task] ?? 0);
      for (const page of new Set(known)) await take(page);
      for (const page of byLikelihood(job.pages, wanted[0] ?? 0)) {
        if (missing.size === 0) break;
        if (!index.isIndexed.has(page)) await take(page);
      }
      return found;
    },

    async ends(job) {
      const index = indexOf(job);
      const read = index.reading.then(async () => {
        const unread = Array.from({ length: job.pages }, (_, page) => page).filter(
          (page) => !index.isIndexed.has(page),
        );
        let unreadablePages = 0;
        for (let at = 0; at < unread.length; at += pagesAtOnce) {
          const some = unread.slice(at, at + pagesAtOnce);
          const pages = await Promise.all(some.map((page) => readPage(job, page, index)));
          unreadablePages += pages.filter((page) => page === null).length;
        }
        return { ends: index, unreadablePages };
      });
      index.reading = read.catch(() => undefined);
      return read;
    },
  };
}

/** Some 200 kB each. */
const maxCachedPages = 200;
/** Fifteen bytes each. */
const maxIndexedTasks = 4_000_000;
/** A bucket answers in tens of milliseconds, and a job of a million tasks has 2,000 pages. */
const pagesAtOnce = 16;

const emptyIndex = (tasks: number): Index => ({
  codes: new Uint8Array(tasks),
  durationsMs: new Float32Array(tasks).fill(-1),
  endedAtMs: new Float64Array(tasks),
  pages: new Uint16Array(tasks),
  isIndexed: new Set(),
  reading: Promise.resolve(),
});

function addToIndex(
  { codes, durationsMs, endedAtMs, pages, isIndexed }: Index,
  page: number,
  records: TaskRecord[],
): void {
  for (const record of records) {
    codes[record.task] = endCodes[record.state];
    durationsMs[record.task] = durationOf(record);
    endedAtMs[record.task] = record.endedAtMs;
    pages[record.task] = page;
  }
  isIndexed.add(page);
}

/** Tasks mostly end in order, so the likeliest pages come first. */
function byLikelihood(pages: number, firstIndex: number): number[] {
  const guess = Math.floor(firstIndex / taskPageSize);
  return Array.from({ length: pages }, (_, page) => page).sort((a, b) => Math.abs(a - guess) - Math.abs(b - guess));
}

/** Written by our own activity from the same type. */
function parseOwnPage(json: unknown): TaskRecord[] {
  if (!Array.isArray(json)) throw new Error('the object is no page of task records');
  return json;
}

// Array syntax: the task ids of a job and their order. `2,4-6,8-10` and `0-10:2`, as in Slurm and Coiled. It also runs in workflow code and is stored
// in a job's state as text: ranges are never expanded here.
import { RopewalkError } from '../errors.ts';
import { indexInLayers, lastId, lastWhere, layersOf, type Range } from './array-layers.ts';
import { maxTasks } from './limits.ts';

/** The ids of a job's tasks. Index n is the nth id as written, counting from 0. */
export interface JobArray {
  count: number;
  /** Returns the id of an index from 0 to count - 1; throws RangeError for any other index. */
  idAt(index: number): number;
  /** Returns the index of an id, or null when no task has it. */
  indexOf(id: number): number | null;
  /** The ranges as written, merged where possible; null where only some ids of the ranges belong to the array. */
  ranges: readonly Range[] | null;
  /** The canonical text: it parses to the same ids in the same order. */
  canonical: string;
}

/** Largest task id: it must fit a 32-bit signed integer in other systems. */
export const maxTaskId = 2 ** 31 - 1;

/** Parses array syntax. Throws VALIDATION, field `array` by default, with the invalid id or part. */
export function parseArray(syntax: string, field = 'array'): JobArray {
  const parts = syntax.split(',').map((part) => parsePart(part, field));
  const ranges: Range[] = [];
  let count = 0;
  for (const part of parts) {
    const range = { ...part, start: count };
    count += part.count;
    if (count > maxTasks)
      throw invalid(field, `it has more than ${maxTasks} tasks, the most one job may have`, splitHint);
    const last = ranges.at(-1);
    const joined = last === undefined ? null : join(last, range);
    if (joined === null) ranges.push(range);
    else ranges[ranges.length - 1] = joined;
  }
  const found = layersOf(ranges, count);
  if (!('layers' in found))
    throw found.twice === null ? invalid(field, tangled, tangledHint) : twice(found.twice, field);
  return {
    count,
    idAt: (index) => idAt(ranges, count, index),
    indexOf: (id) => indexInLayers(found.layers, id),
    ranges,
    canonical: ranges.map(write).join(','),
  };
}

/** False also for ranges that overlap in too many layers. */
export function isArray(syntax: string): boolean {
  try {
    return parseArray(syntax).count > 0;
  } catch (error) {
    if (error instanceof RopewalkError) return false;
    throw error;
  }
}

export const maxShownChars = 1_000;

/** Returns the first ids of a long array, for views. The text is followed by more ids unless it `isWhole`. */
export function shownArray(text: string, isWhole = true): string {
  if (isWhole && text.length <= maxShownChars) return text;
  const start = `${text},`.slice(0, maxShownChars);
  return `${start.slice(0, start.lastIndexOf(',') + 1)}...`;
}

/** Returns the array of a job with only a number of tasks: ids 0 to n - 1. */
export function arrayOfCount(tasks: number, field = 'ntasks'): JobArray {
  if (!Number.isSafeInteger(tasks) || tasks < 1) throw invalid(field, 'a job needs at least one task');
  if (tasks > maxTasks) throw invalid(field, `a job has at most ${maxTasks} tasks`, splitHint);
  return parseArray(`0-${tasks - 1}`, field);
}

/**
 * Writes array syntax for these ids in this order, with a step where three or more ids have the same distance. For generated lists, of which the
 * canonical form joins only consecutive ids.
 */
export function writeArray(ids: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < ids.length;) {
    const range = runFrom(ids, at);
    parts.push(write(range));
    at += range.count;
  }
  return parts.join(',');
}

function runFrom(ids: readonly number[], start: number): Range {
  const first = ids[start] ?? 0;
  const step = (ids[start + 1] ?? first) - first;
  let count = 1;
  while (step > 0 && ids[start + count] === first + count * step) count += 1;
  return count > 2 || step === 1 ? { first, step, count, start } : { first, step: 1, count: 1, start };
}

const partSyntax = /^(\d{1,15})(?:-(\d{1,15})(?::(\d{1,15}))?)?$/;

function parsePart(text: string, field: string): Omit<Range, 'start'> {
  const part = text.trim();
  const shown = JSON.stringify(part.slice(0, 80));
  if (part.includes('%'))
    throw invalid(
      field,
      `${shown}: "%N" has a number, and is written once, after the last id`,
      'For example 0-99%10: ten at a time.',
    );
  const match = partSyntax.exec(part);
  if (match === null) throw invalid(field, `${shown} is neither an id, a range nor a range with a step`);
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : Number(match[2]);
  const step = match[3] === undefined ? 1 : Number(match[3]);
  if (step === 0) throw invalid(field, `${shown}: the step must be at least 1`);
  if (last < first) throw invalid(field, `${shown} ends before it begins`);
  if (last > maxTaskId) throw invalid(field, `${shown}: the largest task id is ${maxTaskId}`);
  const count = Math.floor((last - first) / step) + 1;
  return { first, step: count === 1 ? 1 : step, count };
}

/** Joins two neighbouring ranges of consecutive ids into one. */
function join(left: Range, right: Range): Range | null {
  const consecutive = left.step === 1 && right.step === 1 && right.first === left.first + left.count;
  return consecutive ? { ...left, count: left.count + right.count } : null;
}

function idAt(ranges: Range[], count: number, index: number): number {
  const range = ranges[lastWhere(ranges.length, (at) => (ranges[at]?.start ?? 0) <= index)];
  if (range === undefined || !Number.isInteger(index) || index < 0 || index >= count) {
    throw new RangeError(`task index ${index} is outside 0 to ${count - 1}`);
  }
  return range.first + (index - range.start) * range.step;
}

function write(range: Range): string {
  if (range.count === 1) return String(range.first);
  const ends = `${range.first}-${lastId(range)}`;
  return range.step === 1 ? ends : `${ends}:${range.step}`;
}

const twice = (id: number, field: string) => invalid(field, `task id ${id} is there twice`, 'Name each task id once.');

const tangled = 'too many of its ranges lie within each other';
const tangledHint = 'Write the ids in ascending order, or submit several jobs.';
const splitHint = 'Submit several jobs.';
const syntaxHint = 'Write ids and ranges with commas, for example 2,4-6,8-10 or 0-10:2.';

function invalid(field: string, why: string, hint = syntaxHint): RopewalkError {
  return new RopewalkError({ code: 'VALIDATION', message: `${field}: ${why}`, field, hint });
}

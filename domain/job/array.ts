// Array syntax: which task ids a job has, in which order. `2,4-6,8-10` and `0-10:2`, as Slurm and Coiled write them.
// It also runs in workflow code and lies in a job's state as text: ranges stay ranges, nothing is expanded there.
import { RopewalkError } from '../errors.ts';
import { maxTasks } from './limits.ts';

/** The ids of a job's tasks. Index n is the nth id as written, counting from 0. */
export interface JobArray {
  count: number;
  /** The id of an index from 0 to count - 1; RangeError beyond. */
  idAt(index: number): number;
  /** The index of an id, or null when no task has it. */
  indexOf(id: number): number | null;
  /** The shortest way this syntax is written here: it parses to the same ids in the same order. */
  canonical: string;
}

/** Largest task id: it must fit where other systems keep a 32-bit signed integer. */
export const maxTaskId = 2 ** 31 - 1;

/** Reads array syntax. Throws VALIDATION, field `array` by default, with the id or part at fault. */
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
  const places = isAscending(ranges) ? null : sortedPlaces(ranges, count, field);
  return {
    count,
    idAt: (index) => idAt(ranges, count, index),
    indexOf: (id) => (places === null ? indexInRanges(ranges, id) : indexInPlaces(places, id)),
    canonical: ranges.map(write).join(','),
  };
}

export const maxShownChars = 1_000;

/** For people and in views: the first ids of a long array. More ids than those of the text follow unless it `isWhole`. */
export function shownArray(text: string, isWhole = true): string {
  if (isWhole && text.length <= maxShownChars) return text;
  const start = `${text},`.slice(0, maxShownChars);
  return `${start.slice(0, start.lastIndexOf(',') + 1)}...`;
}

/** The array of a job that only says how many tasks it has: ids 0 to n - 1. */
export function arrayOfCount(tasks: number, field = 'ntasks'): JobArray {
  if (!Number.isSafeInteger(tasks) || tasks < 1) throw invalid(field, 'a job needs at least one task');
  if (tasks > maxTasks) throw invalid(field, `a job has at most ${maxTasks} tasks`, splitHint);
  return parseArray(`0-${tasks - 1}`, field);
}

/**
 * Array syntax of these ids in this order, with steps where three or more ids have one: for lists that a program makes, of which
 * the canonical form joins only consecutive ids.
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

/** `count` ids from `first`, `step` apart. `start` is the index of the first. */
interface Range {
  first: number;
  step: number;
  count: number;
  start: number;
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

/** Two neighbours that read as one run of consecutive ids become one range. */
function join(left: Range, right: Range): Range | null {
  const consecutive = left.step === 1 && right.step === 1 && right.first === left.first + left.count;
  return consecutive ? { ...left, count: left.count + right.count } : null;
}

const isAscending = (ranges: Range[]): boolean =>
  ranges.every((range, at) => at === 0 || range.first > lastId(ranges[at - 1] ?? range));

/** Ids with their indices, in the order of the ids: of ranges out of order, which may overlap and repeat an id. */
function sortedPlaces(ranges: Range[], count: number, field: string): Float64Array {
  const places = new Float64Array(count);
  for (const { first, step, start, count: inRange } of ranges)
    for (let n = 0; n < inRange; n += 1) places[start + n] = (first + n * step) * indicesOfPlace + start + n;
  places.sort();
  for (let at = 1; at < count; at += 1) {
    const id = idOfPlace(places[at]);
    if (id === idOfPlace(places[at - 1]))
      throw invalid(field, `task id ${id} is there twice`, 'Name each task id once.');
  }
  return places;
}

/** An id of 31 bits and an index below this are one exact number. */
const indicesOfPlace = 2 ** 20;
const idOfPlace = (place = -1): number => Math.floor(place / indicesOfPlace);

function indexInPlaces(places: Float64Array, id: number): number | null {
  const at = lastWhere(places.length, (place) => (places[place] ?? 0) < (id + 1) * indicesOfPlace);
  const found = places[at] ?? -1;
  return idOfPlace(found) === id ? found % indicesOfPlace : null;
}

/** The last of the first `count` numbers for which this holds, or 0: it holds up to there, and not after. */
export function lastWhere(count: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function idAt(ranges: Range[], count: number, index: number): number {
  const range = ranges[lastWhere(ranges.length, (at) => (ranges[at]?.start ?? 0) <= index)];
  if (range === undefined || !Number.isInteger(index) || index < 0 || index >= count) {
    throw new RangeError(`task index ${index} is outside 0 to ${count - 1}`);
  }
  return range.first + (index - range.start) * range.step;
}

function indexInRanges(ranges: Range[], id: number): number | null {
  const range = ranges[lastWhere(ranges.length, (at) => (ranges[at]?.first ?? 0) <= id)];
  if (range === undefined) return null;
  const distance = id - range.first;
  const isThere = distance >= 0 && id <= lastId(range) && distance % range.step === 0;
  return isThere ? range.start + distance / range.step : null;
}

function lastId(range: Range): number {
  return range.first + (range.count - 1) * range.step;
}

function write(range: Range): string {
  if (range.count === 1) return String(range.first);
  const ends = `${range.first}-${lastId(range)}`;
  return range.step === 1 ? ends : `${ends}:${range.step}`;
}

const splitHint = 'Submit several jobs.';
const syntaxHint = 'Write ids and ranges with commas, for example 2,4-6,8-10 or 0-10:2.';

function invalid(field: string, why: string, hint = syntaxHint): RopewalkError {
  return new RopewalkError({ code: 'VALIDATION', message: `${field}: ${why}`, field, hint });
}

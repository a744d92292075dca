// The array of a job in its specification and state: array syntax or, for a retry, the array of the first job and the set of its retried tasks. Any
// subset of a million tasks fits in 167 kB; its ids as text would need megabytes.
import { isArray, maxShownChars, parseArray, shownArray, writeArray, type JobArray } from './array.ts';
import { lastWhere } from './array-layers.ts';
import { indicesOf, setOf } from './task-set.ts';

/**
 * The tasks of a job's settings, parsed once for each settings object. A workflow needs them for every message; parsing 10,000 scattered ids takes
 * some ms, which a replay would spend again for each.
 */
export function arrayOf(settings: { readonly array: string }): JobArray {
  const known = read.get(settings);
  if (known !== undefined) return known;
  const array = readStoredArray(settings.array);
  read.set(settings, array);
  return array;
}

const read = new WeakMap<object, JobArray>();

/** Parses a stored array; its canonical text is the stored text. */
export function readStoredArray(stored: string): JobArray {
  const { whole, chosen } = partsOf(stored);
  const array = parseArray(whole);
  if (chosen === null) return array;
  return {
    count: chosen.length,
    idAt(index) {
      const place = chosen[index];
      if (place === undefined) throw new RangeError(`task index ${index} is outside 0 to ${chosen.length - 1}`);
      return array.idAt(place);
    },
    indexOf(id) {
      const place = array.indexOf(id);
      const at = lastWhere(chosen.length, (each) => (chosen[each] ?? 0) <= (place ?? -1));
      return place !== null && chosen[at] === place ? at : null;
    },
    ranges: null,
    canonical: stored,
  };
}

/** Stores some tasks of a stored array, given by their ascending indices. */
export function chooseTasks(stored: string, indices: readonly number[]): string {
  const { whole, chosen } = partsOf(stored);
  const array = parseArray(whole);
  const places = chosen === null ? indices : indices.map((index) => chosen[index] ?? 0);
  const syntax = writeArray(places.map((place) => array.idAt(place)));
  // A short array stays readable.
  const asSet = `${whole}${separator}${setOf(places, array.count)}`;
  const isShorter = syntax.length <= maxShownChars || syntax.length <= asSet.length;
  return isShorter && isArray(syntax) ? syntax : asSet;
}

/** Array syntax for views, shortened when long. */
export function describeStoredArray(stored: string): string {
  if (!stored.includes(separator)) return shownArray(stored);
  const array = readStoredArray(stored);
  const first = Array.from({ length: Math.min(array.count, maxShownChars) }, (_, at) => array.idAt(at));
  return shownArray(writeArray(first), first.length === array.count);
}

/** True when `describeStoredArray` has left out ids. */
export const isShortened = (shown: string): boolean => shown.endsWith('...');

const separator = '|';

function partsOf(stored: string): { whole: string; chosen: number[] | null } {
  const [whole = '', set] = stored.split(separator);
  return { whole, chosen: set === undefined ? null : indicesOf(set) };
}

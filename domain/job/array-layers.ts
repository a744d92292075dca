// Maps ids of a job's array to indices, and finds ids that occur in two ranges. Ids may be written in any order. Ranges are sorted into layers, each
// of ascending ranges that do not overlap; nothing is stored or sorted for each id, because a job may have a million.
import { maxTasks } from './limits.ts';

/** `count` ids from `first` in steps of `step`. `start` is the index of the first id. */
export interface Range {
  first: number;
  step: number;
  count: number;
  start: number;
}

export const lastId = (range: Range): number => range.first + (range.count - 1) * range.step;

type Layers = readonly (readonly Range[])[];

/** Either an id in two ranges, or null when too many ranges overlap for fast lookups. */
export type NoLayers = { twice: number } | { twice: null };

export function layersOf(ranges: readonly Range[], count: number): { layers: Layers } | NoLayers {
  if (isAscending(ranges)) return { layers: [ranges] };
  const layers: Range[][] = [];
  let compared = 0;
  for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
    let own: Range[] | null = null;
    for (const layer of layers) {
      const before = layer.at(-1);
      if (before === undefined || lastId(before) < range.first) {
        own ??= layer;
        continue;
      }
      const twice = commonId(before, range);
      if (twice !== null) return { twice };
    }
    compared += layers.length;
    if (own === null) layers.push([range]);
    else own.push(range);
    if (compared > maxComparisons || layers.length * count > maxLookups) return { twice: null };
  }
  return { layers };
}

/** Each takes some 100 ns: a request must not delay other requests. */
const maxComparisons = 500_000;
/** The cost of finding all ids of an array in that many layers. */
const maxLookups = 4 * maxTasks;

const isAscending = (ranges: readonly Range[]): boolean =>
  ranges.every((range, at) => at === 0 || range.first > lastId(ranges[at - 1] ?? range));

export function indexInLayers(layers: Layers, id: number): number | null {
  for (const ranges of layers) {
    const range = ranges[lastWhere(ranges.length, (at) => (ranges[at]?.first ?? 0) <= id)];
    if (range === undefined) continue;
    const distance = id - range.first;
    if (distance >= 0 && id <= lastId(range) && distance % range.step === 0) return range.start + distance / range.step;
  }
  return null;
}

/** Returns the last of the first `count` numbers for which `holds` is true, or 0. `holds` must be true up to some number and false after it. */
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

/** Returns the lowest common id; `b` must not begin before `a`. */
export function commonId(a: Range, b: Range): number | null {
  const distance = b.first - a.first;
  const { divisor, inverse } = euclid(a.step, b.step);
  if (distance % divisor !== 0) return null;
  // The ids of `a` that belong to `b`, ignoring its bounds, are this many steps of `a` apart.
  const period = b.step / divisor;
  const atLeast = Math.ceil(distance / a.step);
  const solution = multiply((distance / divisor) % period, inverse, period);
  const place = atLeast + ((((solution - atLeast) % period) + period) % period);
  if (place >= a.count) return null;
  const id = a.first + place * a.step;
  return id <= lastId(b) ? id : null;
}

/** Returns the greatest common divisor, and the inverse of a / divisor modulo b / divisor. */
function euclid(a: number, b: number): { divisor: number; inverse: number } {
  let [rest, next] = [a, b];
  let [factor, nextFactor] = [1, 0];
  while (next !== 0) {
    const times = Math.floor(rest / next);
    [rest, next] = [next, rest - times * next];
    [factor, nextFactor] = [nextFactor, factor - times * nextFactor];
  }
  const period = b / rest;
  return { divisor: rest, inverse: ((factor % period) + period) % period };
}

/** Below `largestFactor` a product is exact in a double. */
const multiply = (a: number, b: number, modulus: number): number =>
  modulus < largestFactor ? (a * b) % modulus : Number((BigInt(a) * BigInt(b)) % BigInt(modulus));
const largestFactor = 2 ** 26;

// The array of a retry: some tasks of another array, with any ids.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseArray, type JobArray } from '../../../domain/job/array.ts';
import { maxArrayChars, maxTasks } from '../../../domain/job/limits.ts';
import {
  arrayOf,
  chooseTasks,
  describeStoredArray,
  isShortened,
  readStoredArray,
} from '../../../domain/job/stored-array.ts';
import { indicesOf, isIn, setOf, withIndices } from '../../../domain/job/task-set.ts';

const expand = (array: JobArray): number[] => Array.from({ length: array.count }, (_, index) => array.idAt(index));

describe('a set of tasks', () => {
  it('has what was put into it, and JSON adds nothing to it', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(400)), fc.uniqueArray(fc.nat(400)), (first, more) => {
        const set = withIndices(setOf(first, 401), more);
        const all = new Set([...first, ...more]);
        expect(indicesOf(set)).toEqual([...all].toSorted((a, b) => a - b));
        for (let index = 0; index <= 400; index += 1) expect(isIn(set, index)).toBe(all.has(index));
        expect(JSON.stringify(set)).toHaveLength(set.length + 2);
      }),
    );
  });
});

describe('the array of settings', () => {
  it('is read once for each settings object', () => {
    const settings = { array: '3,9,17-19' };
    const array = arrayOf(settings);
    expect(array.idAt(3)).toBe(18);
    expect(arrayOf(settings)).toBe(array);
    expect(arrayOf({ array: '5' }).idAt(0)).toBe(5);
  });

  it.each(['0-2999', '5-30000:10', '4000-5999,0-999:2,7001,1-999:2'])(
    'names chosen tasks of %s by their ids, also those chosen of the chosen ones',
    (whole) => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), fc.nat(8), (every, again, from) => {
          const array = parseArray(whole);
          const chosen = Array.from({ length: array.count }, (_, at) => at).filter(
            (at) => (at * 7 + from) % every === 0,
          );
          fc.pre(chosen.length > 0);
          const stored = chooseTasks(whole, chosen);
          expect(expand(readStoredArray(stored))).toEqual(chosen.map((index) => array.idAt(index)));
          const second = chosen.map((_, at) => at).filter((at) => (at * 5 + from) % again === 0);
          fc.pre(second.length > 0);
          const ids = second.map((at) => array.idAt(chosen[at] ?? -1));
          const read = readStoredArray(chooseTasks(stored, second));
          expect(expand(read)).toEqual(ids);
          expect(ids.map((id) => read.indexOf(id))).toEqual(ids.map((_, at) => at));
          expect([read.indexOf(7_000), read.indexOf(-1)]).toEqual([null, null]);
        }),
        { numRuns: 20 },
      );
    },
  );

  it('stays short for any tasks of the largest job, and for people shorter still', () => {
    const longest = Array.from(
      { length: maxArrayChars / 16 },
      (_, at) => `${1_000_000_000 + at * 250}-${1_000_000_000 + at * 250 + 199}`,
    );
    const whole = longest
      .join(',')
      .slice(0, maxArrayChars - 80)
      .replace(/,[^,]*$/, '');
    const chosen = Array.from({ length: maxTasks }, (_, at) => at).filter((at) => at % 3 === 0 || at % 7 === 1);
    const stored = chooseTasks(`0-${maxTasks - 1}`, chosen);
    expect(stored.length).toBeLessThan(170_000);
    expect(readStoredArray(stored).count).toBe(chosen.length);
    const shown = describeStoredArray(stored);
    expect([shown.length < 1_010, isShortened(shown), shown.startsWith('0-1,3,6,8-9,')]).toEqual([true, true, true]);
    const { count } = parseArray(whole);
    const scattered = chooseTasks(
      whole,
      Array.from({ length: count / 2 }, (_, at) => 2 * at),
    );
    expect(scattered.length).toBeLessThan(256 * 1024);
    expect(isShortened(describeStoredArray('0-9'))).toBe(false);
    expect(isShortened(describeStoredArray(whole))).toBe(true);
  });
});

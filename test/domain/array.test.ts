import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { commonId, layersOf, type Range } from '../../domain/job/array-layers.ts';
import { arrayOfCount, isArray, maxTaskId, parseArray, writeArray } from '../../domain/job/array.ts';
import type { JobArray } from '../../domain/job/array.ts';
import { maxTasks } from '../../domain/job/limits.ts';

describe('parseArray', () => {
  it.each([
    ['2,4-6,8-10', [2, 4, 5, 6, 8, 9, 10], '2,4-6,8-10'],
    ['0-10:2', [0, 2, 4, 6, 8, 10], '0-10:2'],
    ['0-11:2', [0, 2, 4, 6, 8, 10], '0-10:2'],
    ['7', [7], '7'],
    ['5-5', [5], '5'],
    ['3-4:9', [3], '3'],
    ['1,2,3', [1, 2, 3], '1-3'],
    [' 1 , 3-4 ', [1, 3, 4], '1,3-4'],
    ['9,1-2', [9, 1, 2], '9,1-2'],
    ['0-8:4,1-9:4', [0, 4, 8, 1, 5, 9], '0-8:4,1-9:4'],
    [String(maxTaskId), [maxTaskId], String(maxTaskId)],
    ['007', [7], '7'],
  ])('reads %j', (syntax, ids, canonical) => {
    const array = parseArray(syntax);
    expect(expand(array)).toEqual(ids);
    expect(array.canonical).toBe(canonical);
  });

  it.each([
    ['', /neither an id/],
    ['a', /"a" is neither/],
    ['1,,2', /"" is neither/],
    ['-1', /"-1" is neither/],
    ['1-', /"1-" is neither/],
    ['1.5', /"1.5" is neither/],
    ['1:2', /"1:2" is neither/],
    ['5-1', /"5-1" ends before it begins/],
    ['0-4:0', /step must be at least 1/],
    ['0-15%4', /written once, after the last id/],
    [`${maxTaskId + 1}`, /largest task id/],
    ['99999999999999999999', /neither an id/],
    ['1,2,1', /task id 1 is there twice/],
    ['0-10:2,4-5', /task id 4 is there twice/],
    [`0-${maxTasks}`, new RegExp(`more than ${maxTasks}`)],
    [`0-${maxTasks - 1},${maxTasks}`, new RegExp(`more than ${maxTasks}`)],
    ['0-2147483647', new RegExp(`more than ${maxTasks}`)],
    ['1\u0660', /neither an id/],
  ])('refuses %j', (syntax, message) => {
    expect(() => parseArray(syntax)).toThrow(message);
    expect(() => parseArray(syntax)).toThrow(RopewalkError);
  });

  it('names the field of its caller', () => {
    expect(() => parseArray('x', 'tasks')).toThrow(/^tasks: /);
  });

  it('agrees with a plain list, both ways, and survives being written again', () => {
    const part = fc.oneof(
      fc.nat(300).map((id) => String(id)),
      fc.tuple(fc.nat(300), fc.nat(40), fc.integer({ min: 1, max: 7 })).map(([a, n, step]) => `${a}-${a + n}:${step}`),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const ids = parts.flatMap(listOf);
        if (new Set(ids).size < ids.length) {
          expect(() => parseArray(parts.join(','))).toThrow(/there twice/);
          return;
        }
        const array = parseArray(parts.join(','));
        expect(expand(array)).toEqual(ids);
        expect(expand(parseArray(array.canonical))).toEqual(ids);
        for (let id = 0; id <= 345; id++) {
          const index = ids.indexOf(id);
          expect(array.indexOf(id)).toBe(index === -1 ? null : index);
        }
      }),
    );
  });

  it('has no index outside the array', () => {
    const array = parseArray('4-6');
    for (const index of [-1, 3, 0.5, Number.NaN]) expect(() => array.idAt(index)).toThrow(RangeError);
    for (const id of [3, 7, 4.5, -4, Number.NaN]) expect(array.indexOf(id)).toBeNull();
  });
});

describe('writeArray', () => {
  it.each([
    [[4], '4'],
    [[4, 5], '4-5'],
    [[4, 6], '4,6'],
    [[0, 2, 4, 5, 6, 9], '0-4:2,5-6,9'],
    [[9, 5, 1], '9,5,1'],
    [[0, 200_000, 400_000, 600_000], '0-600000:200000'],
  ])('of %j is %s', (ids, text) => {
    expect(writeArray(ids)).toBe(text);
  });

  it('reads as the same ids in the same order, and is never longer than their list', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(60), { minLength: 1 }), fc.integer({ min: 1, max: 50 }), (ids, factor) => {
        const list = ids.map((id) => id * factor);
        for (const each of [list, list.toSorted((a, b) => a - b)]) {
          expect(expand(parseArray(writeArray(each)))).toEqual(each);
          expect(writeArray(each).length).toBeLessThanOrEqual(each.join(',').length);
        }
      }),
    );
  });
});

describe('arrayOfCount', () => {
  it('counts from 0', () => {
    expect(arrayOfCount(10).canonical).toBe('0-9');
    expect(arrayOfCount(1).canonical).toBe('0');
    expect(arrayOfCount(maxTasks).idAt(maxTasks - 1)).toBe(maxTasks - 1);
  });

  it.each([0, -1, 1.5, maxTasks + 1, Number.NaN])('refuses %d', (tasks) => {
    expect(() => arrayOfCount(tasks)).toThrow(/^ntasks: /);
  });
});

function expand(array: JobArray): number[] {
  return Array.from({ length: array.count }, (_, index) => array.idAt(index));
}

function listOf(part: string): number[] {
  const [first = 0, last = first, step = 1] = part.split(/[-:]/).map(Number);
  const ids: number[] = [];
  for (let id = first; id <= last; id += step) ids.push(id);
  return ids;
}

describe('ids in any order', () => {
  const range = fc
    .record({
      first: fc.integer({ min: 0, max: 60 }),
      step: fc.integer({ min: 1, max: 9 }),
      count: fc.integer({ min: 1, max: 12 }),
    })
    .map(({ first, step, count }) => ({ first, step: count === 1 ? 1 : step, count, start: 0 }));
  const idsOf = ({ first, step, count }: Range): number[] =>
    Array.from({ length: count }, (_, at) => first + at * step);

  it('two ranges have an id in common or not, as their ids say', () => {
    fc.assert(
      fc.property(range, range, (one, other) => {
        const [a, b] = one.first <= other.first ? [one, other] : [other, one];
        expect(commonId(a, b)).toBe(idsOf(a).find((id) => idsOf(b).includes(id)) ?? null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('steps of 31 bits are compared exactly', () => {
    const a = { first: 0, step: 715_827_881, count: 3, start: 0 };
    expect(commonId(a, { first: 1, step: 1_431_655_761, count: 2, start: 0 })).toBe(1_431_655_762);
    expect(commonId(a, { first: 2, step: 1_431_655_761, count: 2, start: 0 })).toBeNull();
  });

  it('nothing is kept for each id of a million', () => {
    const halves = [range500, { ...range500, first: 0, start: 500_000 }];
    expect(layersOf(halves, maxTasks)).toEqual({ layers: [halves.toReversed()] });
    const array = parseArray('0-999998:2,1-999999:2');
    expect([array.indexOf(999_999), array.indexOf(3), array.indexOf(1_000_000)]).toEqual([999_999, 500_001, null]);
  });

  it('a million ids in too many ranges within each other are refused', () => {
    const syntax = Array.from({ length: 8 }, (_, at) => `${7 - at}-999999:8`).join(',');
    expect(() => parseArray(syntax)).toThrow('array: too many of its ranges lie within each other');
    expect(parseArray(syntax.replaceAll('999999', '9999')).count).toBe(10_000);
    expect([isArray(syntax), isArray('2-3')]).toEqual([false, true]);
  });
});

const range500 = { first: 500_000, step: 1, count: 500_000, start: 0 };

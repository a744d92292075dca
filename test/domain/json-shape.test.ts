// The properties of a JSON text before it is parsed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { shapeOf } from '../../domain/requests/json-shape.ts';
import { maxJsonDepth, maxJsonItems, maxJsonKeys } from '../../domain/requests/limits.ts';

const shapeProblem = (text: string) => shapeOf(text).problem;
const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
const keys = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`;
const items = (count: number) => `[${'1,'.repeat(count - 1)}1]`;

describe('the shape of a JSON text', () => {
  it.each([
    ['levels of lists', nested('[', ']', maxJsonDepth), nested('[', ']', maxJsonDepth + 1), 'nested deeper'],
    ['levels of objects', nested('{"a":', '}', maxJsonDepth), nested('{"a":', '}', maxJsonDepth + 1), 'nested deeper'],
    ['fields', keys(maxJsonKeys), keys(maxJsonKeys + 1), 'more than 5000 fields'],
    ['items', items(maxJsonItems), items(maxJsonItems + 1), 'more than 1000000 items'],
  ])('has a bound of %s', (_what, most, more, problem) => {
    expect(shapeProblem(most)).toBeNull();
    expect(shapeProblem(`{"a":${more},"b":[]}`)).toContain(problem);
  });

  it('is that of the JSON, and not of what texts in it hold', () => {
    const brackets = '[{'.repeat(100);
    const escaped = [`\\"${brackets}`, `${brackets}\\\\`, `"\\`, ','.repeat(maxJsonKeys * 2)];
    expect(shapeProblem(JSON.stringify({ a: brackets, [brackets]: escaped }))).toBeNull();
    expect(shapeProblem(JSON.stringify([...escaped, JSON.parse(nested('[', ']', maxJsonDepth))]))).not.toBeNull();
  });

  it('counts lists and objects', () => {
    expect(shapeOf('{"a":[{},"[{",[[]]],"b":1}').parts).toBe(5);
  });

  it('is no problem of any value that is small', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), fc.constantFrom(undefined, 2), (value, space) => {
        expect(shapeProblem(JSON.stringify(value, null, space))).toBeNull();
      }),
    );
  });

  it.each(['', '"', '"\\', ']]]', '{"a', '[1,2', '}{'])('says nothing of wrong JSON: %j', (text) => {
    expect(shapeProblem(text)).toBeNull();
  });
});

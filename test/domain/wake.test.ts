// The Temporal UI's text of a timer.
import { expect, it } from 'vitest';

import { countedWakes, describeWake, earliest } from '../../domain/wake.ts';

const at = (time: string): number => Date.parse(time);
const what = 'idle timeout at';

it.each([
  { atMs: at('2026-11-22T13:02:40Z'), text: 'idle timeout at 13:02 UTC' },
  { atMs: at('2026-11-22T12:31:05Z'), text: 'idle timeout at 12:31:05 UTC' },
  { atMs: at('2026-11-25T08:00:00Z'), text: 'idle timeout at 2026-11-25 08:00 UTC' },
])('$text', ({ atMs, text }) => {
  expect(describeWake({ atMs, what }, at('2026-11-22T12:30:00Z'))).toBe(text);
});

it('the earliest of several, or none', () => {
  expect(earliest([{ atMs: 5, what }, null, { atMs: 3, what: 'lease is checked at' }])).toEqual({
    atMs: 3,
    what: 'lease is checked at',
  });
  expect(earliest([null])).toBeNull();
});

it('things that are due at one moment are counted', () => {
  expect(countedWakes([7, 9, 7], (count) => `${count} must register by`)).toEqual([
    { atMs: 7, what: '2 must register by' },
    { atMs: 9, what: '1 must register by' },
  ]);
});

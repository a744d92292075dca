// Axes of charts and texts of times, without a browser.
import { expect, it } from 'vitest';

import { dayRange, dollarLabels, timeLabels } from '../../web/axes.ts';
import { clockTime, dollars, shortTime } from '../../web/format.ts';

const day = 86_400;

it('one day alone has a range of days, not of years', () => {
  expect(dayRange([20 * day])).toEqual([19 * day, 21 * day]);
  expect(dayRange([20 * day, 25 * day])).toEqual([19 * day, 26 * day]);
});

it('an axis of times names a day where it begins', () => {
  const noon = new Date(2026, 10, 23, 23, 0).getTime() / 1_000;
  const labels = timeLabels([noon, noon + 1_800, noon + 3_600], 1_800);
  expect(labels.map((label) => label.split('\n').length)).toEqual([2, 1, 2]);
  expect(timeLabels([noon, noon + day], day).every((label) => /^\w+ \d+$/.test(label))).toBe(true);
});

it('a line of output has the time of its reader, with the date when it is not of today', () => {
  const at = new Date(2026, 10, 24, 4, 5, 6, 7);
  expect(clockTime(at.toISOString(), new Date(2026, 10, 24, 23))).toBe('04:05:06.007');
  expect(clockTime(at.toISOString(), new Date(2026, 10, 25, 1))).toBe('2026-11-24 04:05:06.007');
});

it('a table leaves the year of a time out while it is this one', () => {
  const at = new Date(2026, 10, 24, 4, 5, 6);
  expect(shortTime(at.toISOString(), new Date(2026, 0, 1))).not.toContain('2026');
  expect(shortTime(at.toISOString(), new Date(2027, 0, 1))).toContain('2026');
  expect(shortTime(null)).toBe('');
});

it('an amount has commas between thousands', () => {
  expect([4_916_047.68, 0, 0.004, 12].map(dollars)).toEqual(['$4,916,047.68', '$0.00', '<$0.01', '$12.00']);
});

it('an axis of amounts has the digits in which they differ', () => {
  expect(dollarLabels([0, 0.005, 0.01], 0.005)).toEqual(['$0.000', '$0.005', '$0.010']);
  expect(dollarLabels([0, 0.00005, 0.0001], 0.00005)).toEqual(['$0.00000', '$0.00005', '$0.00010']);
  expect(dollarLabels([0, 0.01], 0.01)).toEqual(['$0.00', '$0.01']);
  expect(dollarLabels([0, 50, 100], 50)).toEqual(['$0.00', '$50.00', '$100.00']);
});

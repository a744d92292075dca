import { expect, it } from 'vitest';

import type { CostInterval } from '../../../domain/cost/interval.ts';
import { costOverTime } from '../../../domain/cost/over-time.ts';

const hourMs = 3_600_000;
const anInterval = (fromMs: number, toMs: number | null): CostInterval => ({
  ...{ instance: `i-${fromMs}`, role: 'worker', type: 'm6i.large', zone: 'a', market: 'spot', source: 'a test' },
  ...{ microsPerHour: 1_000_000, diskMicrosPerHour: 0, addressMicrosPerHour: 0, fromMs, toMs },
});

it('has no point without an instance', () => {
  expect(costOverTime([], 10 * hourMs, 5)).toEqual([]);
});

it('grows with the instances that exist, and ends with the last one', () => {
  const intervals = [anInterval(0, 4 * hourMs), anInterval(2 * hourMs, 4 * hourMs)];
  expect(costOverTime(intervals, 100 * hourMs, 5)).toEqual([
    { atMs: 0, micros: 0 },
    { atMs: hourMs, micros: 1_000_000 },
    { atMs: 2 * hourMs, micros: 2_000_000 },
    { atMs: 3 * hourMs, micros: 4_000_000 },
    { atMs: 4 * hourMs, micros: 6_000_000 },
  ]);
});

it('goes on to now while an instance exists, and bills a minute at least', () => {
  expect(costOverTime([anInterval(0, null)], 2 * hourMs, 2).at(-1)).toEqual({ atMs: 2 * hourMs, micros: 2_000_000 });
  expect(costOverTime([anInterval(0, 1_000)], hourMs, 2).at(-1)).toEqual({ atMs: 60_000, micros: 16_667 });
});

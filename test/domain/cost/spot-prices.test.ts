import { describe, expect, it } from 'vitest';

import { amountIn, totalCost } from '../../../domain/cost/amount.ts';
import type { CostInterval } from '../../../domain/cost/interval.ts';
import { chargedPrices, maxPriceChanges } from '../../../domain/cost/spot-prices.ts';
import { taskMicros } from '../../../domain/cost/task-share.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const launchedAtMs = 1_790_000_000_000;
const at = (minutes: number, microsPerHour: number) => ({ atMs: launchedAtMs + minutes * minuteMs, microsPerHour });
const own = { instance: 'i-1', role: 'worker', type: 'm6i.large', zone: 'a', market: 'spot', source: 's' } as const;
const beside = { diskMicrosPerHour: 0, addressMicrosPerHour: 0 };

function intervalOf(prices: ReturnType<typeof at>[], minutes: number): CostInterval {
  const endedAtMs = launchedAtMs + minutes * minuteMs;
  const charged = chargedPrices(prices, { launchedAtMs, endedAtMs });
  if (charged === null) throw new Error('no price');
  return { ...own, ...beside, ...charged, fromMs: launchedAtMs, toMs: endedAtMs };
}

describe('what a spot instance is charged', () => {
  it('is in each hour since its launch the price that was in effect at the beginning of that hour', () => {
    // In any order: the price before the launch, one that held only for minutes, one exactly at the second hour, one after the end.
    const prices = [at(125, 90_000), at(-500, 36_000), at(10, 72_000), at(40, 50_000), at(60, 54_000), at(200, 1)];
    const interval = intervalOf(prices, 150);
    expect(interval.microsPerHour).toBe(36_000);
    expect(interval.later).toEqual([{ fromMs: launchedAtMs + hourMs, microsPerHour: 54_000 }]);
    expect(totalCost([interval], launchedAtMs + 9 * hourMs)).toBe(36_000 + 54_000 + 27_000);
  });

  it('has no change where the price is the same again at the next hour', () => {
    expect(intervalOf([at(-1, 36_000), at(20, 90_000), at(50, 36_000)], 300).later).toEqual([]);
  });

  it('is unknown where the history does not reach back to the launch', () => {
    expect(chargedPrices([at(5, 36_000)], { launchedAtMs, endedAtMs: null })).toBeNull();
  });

  it('adds up over days, and is at most what tasks on it cost together', () => {
    const prices = Array.from({ length: 60 }, (_, hour) => at(hour * 60 - 1, 36_000 + 1_000 * ((hour * 7) % 11)));
    const interval = intervalOf(prices.slice(0, 20), 45 * 60);
    const untilMs = launchedAtMs + 100 * hourMs;
    const whole = totalCost([interval], untilMs);
    const parts = [0, 7, 13, 31, 100].map((hours) => launchedAtMs + hours * hourMs);
    const sum = parts.slice(1).reduce((total, end, part) => {
      return total + amountIn(interval, { fromMs: parts[part] ?? 0, untilMs: end }).micros;
    }, 0);
    expect(sum).toBe(whole);
    const tasks = Array.from({ length: 45 }, (_, hour) => ({
      ...{ startedAtMs: launchedAtMs + hour * hourMs, endedAtMs: launchedAtMs + (hour + 1) * hourMs },
    }));
    const ofTasks = tasks.reduce((total, task) => total + taskMicros(interval, task, untilMs), 0);
    expect([ofTasks <= whole, ofTasks > whole - 50]).toEqual([true, true]);
  });

  it('keeps its sum where more changes than are kept become fewer', () => {
    const prices = Array.from({ length: 400 }, (_, hour) => at(hour * 60 - 1, 36_000 + 100 * ((hour * 7) % 101)));
    const exact = prices.slice(0, 350).reduce((sum, { microsPerHour }) => sum + microsPerHour, 0);
    const interval = intervalOf(prices, 350 * 60);
    expect(interval.later?.length).toBeLessThanOrEqual(maxPriceChanges);
    expect(Math.abs(totalCost([interval], launchedAtMs + 999 * hourMs) - exact)).toBeLessThan(350);
  });
});

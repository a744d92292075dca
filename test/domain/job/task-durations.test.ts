import { expect, it } from 'vitest';

import { countDuration, durationClasses, type DurationClass } from '../../../domain/job/task-durations.ts';

function classify(durations: readonly number[]): DurationClass[] {
  const classes = durationClasses(Math.min(...durations), Math.max(0, ...durations));
  for (const each of durations) countDuration(classes, each);
  return classes;
}

it('has no class without a task', () => {
  expect(classify([])).toEqual([]);
});

it('has classes of one round width for tasks that take about as long', () => {
  const classes = classify([30_000, 31_000, 31_500, 40_000]);
  expect([classes[0], classes.length]).toEqual([{ fromMs: 30_000, toMs: 30_500, count: 1 }, 21]);
  expect(classes.find(({ fromMs }) => fromMs === 31_000)?.count).toBe(1);
  expect(classes.at(-1)).toEqual({ fromMs: 40_000, toMs: 40_500, count: 1 });
});

it('has steps of 1, 2 and 5 where the longest is far longer', () => {
  const classes = classify([700, 800, 3_600_000]);
  expect(classes.map(({ fromMs }) => fromMs).slice(0, 5)).toEqual([500, 1_000, 2_000, 5_000, 10_000]);
  expect([classes[0]?.count, classes.at(-1)]).toEqual([2, { fromMs: 2_000_000, toMs: 5_000_000, count: 1 }]);
});

it.each([[[0]], [[0, 0, 0]], [[1]], [[999, 1_000]], [[0, 86_400_000]], [[1_000, 20_000]], [[100_000_000]]])(
  'counts each of %j once, in classes that adjoin, and not too many',
  (durations) => {
    const classes = classify(durations);
    expect(classes.reduce((sum, { count }) => sum + count, 0)).toBe(durations.length);
    for (const [at, { fromMs, toMs }] of classes.entries()) {
      expect(toMs).toBeGreaterThan(fromMs);
      if (at > 0) expect(fromMs).toBe(classes[at - 1]?.toMs);
    }
    expect(Math.min(...durations)).toBeGreaterThanOrEqual(classes[0]?.fromMs ?? Infinity);
    expect(Math.max(...durations)).toBeLessThan(classes.at(-1)?.toMs ?? 0);
    expect(classes.length).toBeLessThanOrEqual(30);
  },
);

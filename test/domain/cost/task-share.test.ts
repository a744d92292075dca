// A task's share of its instance's cost: plain cases, and the property that the tasks of a job never add up to more than the job.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { totalCost } from '../../../domain/cost/amount.ts';
import type { CostInterval } from '../../../domain/cost/interval.ts';
import { taskMicros, type TaskTime } from '../../../domain/cost/task-share.ts';

const hourMs = 3_600_000;
const anInterval = (changes: Partial<CostInterval>): CostInterval => ({
  ...{ instance: 'i-1', role: 'worker', type: 'm6i.large', zone: 'a', market: 'spot', source: 'a test' },
  ...{ microsPerHour: 1_000_000, diskMicrosPerHour: 4_000, addressMicrosPerHour: 5_000, fromMs: 0, toMs: hourMs },
  ...changes,
});

describe('the cost of a task', () => {
  it('is its time at the price of its instance with disk and address', () => {
    expect(taskMicros(anInterval({}), { startedAtMs: 0, endedAtMs: hourMs / 2 }, hourMs)).toBe(504_500);
  });

  it('counts a running task until now, and no time in which the instance did not exist', () => {
    const open = anInterval({ fromMs: 1_000, toMs: null });
    expect(taskMicros(open, { startedAtMs: 0, endedAtMs: null }, 1_000 + hourMs / 2)).toBe(504_500);
    expect(taskMicros(anInterval({}), { startedAtMs: 0, endedAtMs: null }, 5 * hourMs)).toBe(1_009_000);
    expect(taskMicros(anInterval({}), { startedAtMs: 2 * hourMs, endedAtMs: 3 * hourMs }, 5 * hourMs)).toBe(0);
  });
});

/** Pauses and consecutive runs on one instance, also before and after its lifetime by another clock. */
const life = fc.record({
  fromMs: fc.integer({ min: 0, max: 20 * hourMs }),
  lengthMs: fc.option(fc.integer({ min: 0, max: 20 * hourMs })),
  microsPerHour: fc.integer({ min: 0, max: 40_000_000 }),
  diskMicrosPerHour: fc.integer({ min: 0, max: 50_000 }),
  addressMicrosPerHour: fc.constantFrom(0, 2_500, 5_000),
  skewMs: fc.integer({ min: -hourMs, max: hourMs }),
  tasks: fc.array(fc.tuple(fc.nat(60_000), fc.nat(2 * hourMs)), { maxLength: 40 }),
  isLastRunning: fc.boolean(),
});

it('of all tasks of a job is at most the cost of the job', () => {
  let positive = 0;
  fc.assert(
    fc.property(fc.array(life, { maxLength: 6 }), fc.integer({ min: 0, max: 60 * hourMs }), (lives, nowMs) => {
      let micros = 0;
      const intervals = lives.map(({ skewMs, tasks, isLastRunning, lengthMs, ...known }) => {
        const toMs = lengthMs === null ? null : Math.min(nowMs, known.fromMs + lengthMs);
        const interval = anInterval({ ...known, fromMs: Math.min(known.fromMs, nowMs), toMs: toMs });
        let atMs = interval.fromMs + skewMs;
        const times = tasks.map(([pauseMs, runMs]): TaskTime => {
          const startedAtMs = atMs + pauseMs;
          atMs = startedAtMs + runMs;
          return { startedAtMs, endedAtMs: atMs };
        });
        const last = times.at(-1);
        if (isLastRunning && last !== undefined) last.endedAtMs = null;
        micros += times.reduce((sum, time) => sum + taskMicros(interval, time, nowMs), 0);
        return interval;
      });
      if (micros > 0) positive += 1;
      expect(micros).toBeLessThanOrEqual(totalCost(intervals, nowMs));
    }),
    { numRuns: 2_000 },
  );
  expect(positive).toBeGreaterThan(500);
});

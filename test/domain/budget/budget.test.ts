import { describe, expect, it } from 'vitest';

import {
  forecast,
  refusedByBudget,
  runLimitMicros,
  spentBy,
  type CountedBudget,
} from '../../../domain/budget/admit.ts';
import { periodEndMs, periodStartMs } from '../../../domain/budget/budget.ts';
import { levelEvent, type Standing } from '../../../domain/budget/standing.ts';

const nowMs = Date.UTC(2026, 1, 28, 12);
const counted = {
  fromMs: periodStartMs('day', nowMs),
  micros: 9_000_000,
  microsPerHour: 1_200_000,
  level: 'ok',
} as const;
const budget: CountedBudget = {
  ...{ name: 'ml', subject: { kind: 'user', user: 'ada' }, period: 'day', micros: 10_000_000, warnShare: 0.8 },
  ...{ action: 'refuse', counted: { ...counted, atMs: nowMs - 60_000 } },
};

describe('a budget', () => {
  it('has periods of days and months in UTC', () => {
    expect(new Date(periodEndMs('day', nowMs) ?? 0).toISOString()).toBe('2026-03-01T00:00:00.000Z');
    expect(new Date(periodEndMs('month', nowMs) ?? 0).toISOString()).toBe('2026-03-01T00:00:00.000Z');
    expect(new Date(periodStartMs('month', nowMs)).toISOString()).toBe('2026-02-01T00:00:00.000Z');
    expect([periodStartMs('run', nowMs), periodEndMs('run', nowMs)]).toEqual([0, null]);
  });

  it('counts on at the last rate between counts, and from nothing in a new period', () => {
    expect(spentBy(budget, nowMs)).toBe(9_020_000);
    const tomorrowMs = Date.UTC(2026, 2, 1, 0, 30);
    expect(spentBy(budget, tomorrowMs)).toBe(600_000);
  });

  it('refuses its user, and no other, once it is used up, and says until when', () => {
    const usedUp = { ...budget, micros: 9_000_000 };
    expect(refusedByBudget([budget], 'ada', nowMs)).toBeNull();
    expect(refusedByBudget([usedUp], 'bob', nowMs)).toBeNull();
    expect(refusedByBudget([{ ...usedUp, action: 'warn' }], 'ada', nowMs)).toBeNull();
    expect(refusedByBudget([usedUp], 'ada', nowMs)).toEqual({
      code: 'BUDGET_EXCEEDED',
      message: 'Nothing is launched: the budget ml ($9.00 a day of user ada) is used up.',
      hint: 'Wait until 2026-03-01T00:00:00.000Z, or ask an admin to raise it: ropewalk budget set ml --dollars N.',
    });
  });

  it('is forecast: when it will be exceeded, only if that is before the end of its period and of the run', () => {
    const launching = { user: 'ada', microsPerHour: 2_000_000, maxCostMicros: null, maxMs: null };
    expect(forecast([budget], launching, nowMs)).toEqual([
      'It costs up to $2.00 an hour, $3.20 an hour with all that runs: it will exceed the budget ml ($10.00 a day of user ada) after 18 minutes, and launches nothing then.',
    ]);
    expect(forecast([budget], { ...launching, maxMs: 600_000 }, nowMs)).toEqual([]);
    expect(forecast([{ ...budget, micros: 900_000_000 }], launching, nowMs)).toEqual([]);
    expect(forecast([budget], { ...launching, user: 'bob', maxCostMicros: 1_000_000 }, nowMs)).toEqual([
      'It costs up to $2.00 an hour: it reaches its maxCost of $1.00 after 30 minutes.',
    ]);
  });

  it('of each run limits a new run by the least of those that stop', () => {
    const run: CountedBudget = { ...budget, period: 'run', action: 'stop', subject: { kind: 'workspace' } };
    expect(runLimitMicros([budget, run, { ...run, micros: 5_000_000 }], 'bob')).toBe(5_000_000);
    expect(runLimitMicros([{ ...run, action: 'refuse' }, budget], 'ada')).toBeNull();
  });

  it('gives each warning once a period, and none when less is used again', () => {
    const at = (level: Standing['level'], fromMs = 0): Standing => ({
      fromMs,
      micros: 8_500_000,
      microsPerHour: 0,
      level,
    });
    expect(levelEvent(budget, null, at('warned'))?.code).toBe('BUDGET_WARNING');
    expect(levelEvent(budget, at('warned'), at('warned'))).toBeNull();
    expect(levelEvent(budget, at('warned'), at('exceeded'))).toEqual({
      code: 'BUDGET_EXCEEDED',
      text: '$8.50 of the budget ml ($10.00 a day of user ada) is used: no instance is launched any more',
    });
    expect(levelEvent(budget, at('exceeded'), at('warned'))).toBeNull();
    expect(levelEvent(budget, at('exceeded', 0), at('warned', 86_400_000))?.code).toBe('BUDGET_WARNING');
  });
});

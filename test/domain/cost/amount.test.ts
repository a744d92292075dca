// The cost of intervals: by the second, at least a minute, and parts that add up.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { amountIn, totalCost } from '../../../domain/cost/amount.ts';
import type { CostInterval } from '../../../domain/cost/interval.ts';
import { costGroupings, createSummary, type CostEntry } from '../../../domain/cost/summary.ts';

const hourMs = 3_600_000;
const interval = (changes: Partial<CostInterval> = {}): CostInterval => ({
  ...{ instance: 'i-1', role: 'worker', type: 'm6i.large', zone: 'a', market: 'on-demand' },
  ...{ microsPerHour: 96_000, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'test', fromMs: 0, toMs: hourMs },
  ...changes,
});

describe('the cost of an instance', () => {
  it('is its price by the second, and that of a minute at least', () => {
    const cost = (toMs: number): number => totalCost([interval({ toMs })], 10 * hourMs);
    expect(cost(hourMs)).toBe(96_000);
    expect(cost(hourMs / 2)).toBe(48_000);
    expect(cost(1)).toBe(1_600);
    expect(cost(60_000)).toBe(1_600);
    expect(cost(60_001)).toBe(Math.round((61 * 96_000) / 3_600));
  });

  it('grows until now while it runs, and has disks without a minimum', () => {
    const running = interval({ toMs: null, diskMicrosPerHour: 3_600 });
    expect(totalCost([running], hourMs)).toBe(96_000 + 3_600);
    expect(totalCost([running], 30_000)).toBe(1_600 + 30);
  });

  it('before and after its time is nothing', () => {
    expect(amountIn(interval(), { fromMs: 2 * hourMs, untilMs: 3 * hourMs })).toEqual({ micros: 0, seconds: 0 });
    expect(amountIn(interval({ fromMs: hourMs, toMs: null }), { fromMs: 0, untilMs: hourMs }).micros).toBe(0);
  });
});

const entries = fc.array(
  fc
    .record({
      fromMs: fc.integer({ min: 0, max: 200 * hourMs }),
      lengthMs: fc.option(fc.integer({ min: 0, max: 100 * hourMs })),
      microsPerHour: fc.integer({ min: 0, max: 40_000_000 }),
      diskMicrosPerHour: fc.integer({ min: 0, max: 50_000 }),
      addressMicrosPerHour: fc.constantFrom(0, 2_500, 5_000),
      cluster: fc.integer({ min: 1, max: 4 }),
      user: fc.constantFrom('ada', 'bob'),
      type: fc.constantFrom('m6i.large', 'g4dn.xlarge'),
    })
    .map(({ lengthMs, cluster, user, ...known }): CostEntry => ({
      ...interval(known),
      toMs: lengthMs === null ? null : known.fromMs + lengthMs,
      ...{ cluster, user, name: `c${cluster}`, job: cluster % 2 === 0 ? cluster : null },
    })),
  { maxLength: 30 },
);

describe('summaries', () => {
  it('by tag have a line for each tag, and one for what has none', () => {
    const summary = createSummary('tag', { sinceMs: 0, nowMs: hourMs });
    const owner = { cluster: 1, job: null, user: 'ada', name: 'c' };
    summary.add({ ...interval({ tags: { team: 'blue', stage: 'test' } }), ...owner });
    summary.add({ ...interval({ tags: { team: 'blue' } }), ...owner });
    summary.add({ ...interval(), ...owner });
    expect(summary.lines().map(({ key, micros }) => [key, micros])).toEqual([
      ['team=blue', 192_000],
      ['', 96_000],
      ['stage=test', 96_000],
    ]);
    expect(summary.total().micros).toBe(288_000);
  });

  it('of any grouping add up to the same total, to the millionth of a dollar', () => {
    fc.assert(
      fc.property(entries, fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 * hourMs })), (all, sinceMs) => {
        const nowMs = 320 * hourMs;
        // An instance with two tags is in two lines.
        const totals = costGroupings
          .filter((by) => by !== 'tag')
          .map((by) => {
            const summary = createSummary(by, { sinceMs, nowMs });
            for (const entry of all) summary.add(entry);
            const { micros, instanceSeconds } = summary.total();
            const lines = summary.lines();
            expect(lines.reduce((sum, line) => sum + line.micros, 0)).toBe(micros);
            expect(lines.reduce((sum, line) => sum + line.instanceSeconds, 0)).toBe(instanceSeconds);
            return micros;
          });
        expect(new Set(totals).size).toBe(1);
        if (sinceMs === 0) expect(totals[0]).toBe(totalCost(all, nowMs));
      }),
    );
  });
});

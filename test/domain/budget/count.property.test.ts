// Any launches between two counts: a budget that stops is exceeded by no more than the spending since the previous count, and one
// that refuses prevents every new launch.
import { expect, it } from 'vitest';

import { refusedByBudget, type CountedBudget } from '../../../domain/budget/admit.ts';
import { budgetPeriods, countEveryMs, periodStartMs, type Budget } from '../../../domain/budget/budget.ts';
import { createCount } from '../../../domain/budget/standing.ts';
import { amountIn } from '../../../domain/cost/amount.ts';
import type { CostEntry } from '../../../domain/cost/summary.ts';
import { createRandom } from '../../support/random.ts';

const simulations = 60;
const users = ['ada', 'bob'];

/** By run, or under 0 for everything that the budget covers. */
function spentOf({ subject, period }: Budget, ledger: readonly CostEntry[], fromMs: number, nowMs: number) {
  const sums = new Map<number, number>();
  for (const entry of ledger) {
    if (subject.kind === 'user' && subject.user !== entry.user) continue;
    const key = period === 'run' ? entry.cluster : 0;
    sums.set(key, (sums.get(key) ?? 0) + amountIn(entry, { fromMs, untilMs: nowMs }).micros);
  }
  return sums;
}

it('a budget that stops is exceeded by at most the spending between two counts', () => {
  let exceeded = 0;
  let refused = 0;
  for (let seed = 1; seed <= simulations; seed += 1) {
    const random = createRandom(seed);
    const between = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
    const user = random() < 0.5 ? 'ada' : null;
    const budget: Budget = {
      name: 'b',
      subject: user === null ? { kind: 'workspace' } : { kind: 'user', user },
      period: budgetPeriods[between(0, 2)] ?? 'run',
      micros: between(10_000, 3_000_000),
      warnShare: 0.8,
      action: random() < 0.6 ? 'stop' : 'refuse',
    };
    // Near midnight and near the end of a month: periods begin anew meanwhile.
    let nowMs = Date.UTC(2026, 0, 31, 23, between(30, 59));
    let ledger: CostEntry[] = [];
    let counted: CountedBudget = { ...budget, counted: null };
    const open = new Map<number, { user: string; held: boolean }>();
    const launch = (cluster: number, owner: string): void => {
      ledger = [
        ...ledger,
        {
          ...{ cluster, job: null, user: owner, name: '', instance: `i_${ledger.length}`, role: 'worker' },
          ...{ type: 'm', zone: 'a', market: 'on-demand', source: '', fromMs: nowMs, toMs: null },
          ...{
            microsPerHour: between(10_000, 9_000_000),
            diskMicrosPerHour: between(0, 5_000),
            addressMicrosPerHour: between(0, 5_000),
          },
        },
      ];
    };
    const close = (of: (entry: CostEntry) => boolean): void => {
      ledger = ledger.map((entry) => (entry.toMs === null && of(entry) ? { ...entry, toMs: nowMs } : entry));
    };
    for (let step = 0; step < 120; step += 1) {
      const before = { nowMs, spent: spentOf(budget, ledger, periodStartMs(budget.period, nowMs), nowMs) };
      // The work of the API and the clusters until the next count.
      for (let change = between(0, 3); change > 0; change -= 1) {
        nowMs += between(0, countEveryMs / 4);
        const owner = users[between(0, 1)] ?? 'ada';
        const isRefused = refusedByBudget([counted], owner, nowMs) !== null;
        if (isRefused) refused += 1;
        const [number] = [...open].filter(([, each]) => !each.held)[between(0, 5)] ?? [];
        if (random() < 0.3) close(({ instance }) => instance === `i_${between(0, ledger.length)}`);
        else if (random() < 0.5 && number !== undefined) launch(number, open.get(number)?.user ?? 'ada');
        else if (!isRefused) {
          const fresh = open.size + 1;
          open.set(fresh, { user: owner, held: false });
          launch(fresh, owner);
        }
      }
      nowMs = before.nowMs + countEveryMs;
      const list = [...open].map(([number, { user: name }]) => ({ number, job: null, user: name }));
      const count = createCount([budget], list, nowMs);
      for (const entry of ledger) count.add(entry);
      const standing = count.standings().get('b');
      if (standing === undefined) throw new Error('the budget was not counted');
      counted = { ...budget, counted: { ...standing, atMs: nowMs } };
      const fromMs = periodStartMs(budget.period, nowMs);
      const spent = spentOf(budget, ledger, fromMs, nowMs);
      // The count is the ledger's.
      const most = Math.max(0, ...spent.values());
      if (standing.fromMs !== fromMs || standing.micros !== most)
        throw new Error(`seed ${seed}: counted ${standing.micros}, spent ${most}`);
      for (const [key, micros] of spent) {
        if (budget.action !== 'stop' || micros <= budget.micros) continue;
        exceeded += 1;
        const earlier = fromMs > before.nowMs ? 0 : (before.spent.get(key) ?? 0);
        // At the previous count the budget was not used up, or everything that it covers had been stopped.
        if (earlier >= budget.micros && micros !== earlier)
          throw new Error(`seed ${seed}: ${micros} after ${earlier} of ${budget.micros}`);
      }
      const verdicts = new Map(count.verdicts().map((verdict) => [verdict.number, verdict]));
      for (const [number, cluster] of open) {
        const verdict = verdicts.get(number);
        cluster.held = verdict !== undefined;
        if (verdict?.action === 'stop') close(({ cluster: own }) => own === number);
      }
    }
  }
  expect([exceeded, refused].every((count) => count > 500)).toBe(true);
});

// Computes from the cost ledger how much of its budgets a workspace has used, and the consequence for each open cluster.
import { amountIn } from '../cost/amount.ts';
import { hourlyMicrosAt } from '../cost/interval.ts';
import type { CostEntry } from '../cost/summary.ts';
import { describeBudget, periodStartMs, type Budget } from './budget.ts';
import { spellDollars } from './dollars.ts';

export type BudgetLevel = 'ok' | 'warned' | 'exceeded';

/** The counted usage of a budget; for a budget per run, the usage of its most expensive cluster or job. */
export interface Standing {
  fromMs: number;
  micros: number;
  /** Hourly rate of the existing instances. */
  microsPerHour: number;
  level: BudgetLevel;
}

/** An open cluster, or the cluster of an open job, which has the job's number. */
export interface OpenCluster {
  number: number;
  job: number | null;
  user: string;
}

/** The consequence of a used-up budget for a cluster. */
export interface Verdict {
  number: number;
  job: number | null;
  action: 'hold' | 'stop';
  text: string;
}

export interface Count {
  add(entry: CostEntry): void;
  standings(): Map<string, Standing>;
  /** One for each open cluster that a used-up budget of `refuse` or `stop` covers; `stop` wins. */
  verdicts(): Verdict[];
}

/** Ledger entries older than this do not affect these budgets. Budgets per run need the entries since the start of the oldest open cluster. */
export const countSinceMs = (budgets: readonly Budget[], nowMs: number, oldestOpenMs: number): number =>
  budgets.reduce(
    (since, { period }) => Math.min(since, period === 'run' ? oldestOpenMs : periodStartMs(period, nowMs)),
    nowMs,
  );

/** Entries are added in any order, each once. A budget per run counts only open clusters. */
export function createCount(budgets: readonly Budget[], open: readonly OpenCluster[], nowMs: number): Count {
  const openNumbers = new Set(open.map(({ number }) => number));
  const counts = budgets.map((budget) => ({
    budget,
    fromMs: periodStartMs(budget.period, nowMs),
    sums: new Map<number, { micros: number; microsPerHour: number }>(),
  }));
  const standingOf = ({ budget, fromMs, sums }: (typeof counts)[number]): Standing => {
    const max = [...sums.values()].reduce((a, b) => (b.micros > a.micros ? b : a), { micros: 0, microsPerHour: 0 });
    return { fromMs, ...max, level: levelOf(budget, max.micros) };
  };
  return {
    add(entry) {
      for (const { budget, fromMs, sums } of counts) {
        if (!covers(budget, entry.cluster, entry.user)) continue;
        if (budget.period === 'run' && !openNumbers.has(entry.cluster)) continue;
        const { micros } = amountIn(entry, { fromMs, untilMs: nowMs });
        const key = budget.period === 'run' ? entry.cluster : 0;
        const sum = sums.get(key) ?? { micros: 0, microsPerHour: 0 };
        sum.micros += micros;
        if (entry.toMs === null) sum.microsPerHour += hourlyMicrosAt(entry, nowMs);
        sums.set(key, sum);
      }
    },
    standings: () => new Map(counts.map((count) => [count.budget.name, standingOf(count)])),
    verdicts: () =>
      open.flatMap(({ number, job, user }) => {
        const used = counts.flatMap(({ budget, sums }) => {
          if (budget.action === 'warn' || !covers(budget, number, user)) return [];
          const micros = sums.get(budget.period === 'run' ? number : 0)?.micros ?? 0;
          return micros < budget.micros ? [] : [{ budget, micros }];
        });
        const worst = used.find(({ budget }) => budget.action === 'stop') ?? used[0];
        if (worst === undefined) return [];
        const action = worst.budget.action === 'stop' ? ('stop' as const) : ('hold' as const);
        return [{ number, job, action, text: usedUpText(worst.budget) }];
      }),
  };
}

/** Leaves out the amount, which grows: a cluster records the same text as one event. */
export const usedUpText = (budget: Budget): string => `${describeBudget(budget)} is used up`;

export const levelOf = ({ micros: limit, warnShare }: Budget, micros: number): BudgetLevel => {
  if (micros >= limit) return 'exceeded';
  return micros >= limit * warnShare ? 'warned' : 'ok';
};

/** A job and its cluster share one number. */
function covers({ subject }: Budget, number: number, user: string): boolean {
  if (subject.kind === 'workspace') return true;
  return subject.kind === 'user' ? subject.user === user : subject.number === number;
}

/** The event for a budget's new level; null when no event is due. */
export function levelEvent(
  budget: Budget,
  before: { fromMs: number; level: BudgetLevel } | null,
  now: Standing,
): { code: 'BUDGET_WARNING' | 'BUDGET_EXCEEDED'; text: string } | null {
  const was = before !== null && before.fromMs === now.fromMs ? before.level : 'ok';
  if (now.level === 'ok' || rank[now.level] <= rank[was]) return null;
  const used = `${spellDollars(now.micros)} of ${describeBudget(budget)}`;
  if (now.level === 'warned') return { code: 'BUDGET_WARNING', text: `${used} is used` };
  return { code: 'BUDGET_EXCEEDED', text: `${used} is used: ${consequence[budget.action]}` };
}

const rank: Readonly<Record<BudgetLevel, number>> = { ok: 0, warned: 1, exceeded: 2 };

const consequence: Readonly<Record<Budget['action'], string>> = {
  warn: 'nothing is stopped',
  refuse: 'no instance is launched any more',
  stop: 'its clusters and jobs are stopped',
};

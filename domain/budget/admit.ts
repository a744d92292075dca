// Applies the budgets of a workspace to a new cluster or job, or to one that grows: a refusal, or a forecast of when a budget is used up.
import type { Problem } from '../errors.ts';
import { spellDuration } from '../units.ts';
import { describeBudget, periodEndMs, periodStartMs, type Budget } from './budget.ts';
import { spellDollars } from './dollars.ts';
import { usedUpText, type Standing } from './standing.ts';

export interface CountedBudget extends Budget {
  /** Null until the first count. */
  counted: (Standing & { atMs: number }) | null;
}

/** The planned launch. Null when its price is unknown or zero. */
export interface Launching {
  user: string;
  microsPerHour: number;
  /** The limits of the cluster or job itself; null for none. */
  maxCostMicros: number | null;
  maxMs: number | null;
}

/** Estimates the spending by now: the counted amount, plus the spending since then at the rate of that time. */
export function spentBy({ period, counted }: CountedBudget, nowMs: number): number {
  if (counted === null) return 0;
  const fromMs = periodStartMs(period, nowMs);
  const [micros, sinceMs] = counted.fromMs === fromMs ? [counted.micros, counted.atMs] : [0, fromMs];
  return micros + (counted.microsPerHour * Math.max(0, nowMs - sinceMs)) / 3_600_000;
}

/** Returns the refusal by a used-up budget, or null. Budgets per run do not apply to a new run. */
export function refusedByBudget(budgets: readonly CountedBudget[], user: string, nowMs: number): Problem | null {
  const budget = usedUp(budgets, user, nowMs);
  if (budget === undefined) return null;
  return {
    code: 'BUDGET_EXCEEDED',
    message: `Nothing is launched: ${usedUpText(budget)}.`,
    hint: `Wait until ${endOf(budget, nowMs)}, or ask an admin to raise it: ropewalk budget set ${budget.name} --dollars N.`,
  };
}

/** Why a job that waits for nothing else is not admitted; null when no budget holds it back. */
export function waitsForBudget(
  budgets: readonly CountedBudget[],
  user: string,
  nowMs: number,
): { code: string; text: string } | null {
  const budget = usedUp(budgets, user, nowMs);
  if (budget === undefined) return null;
  const text = `Starts not before ${endOf(budget, nowMs)}, or when an admin raises the budget: ${usedUpText(budget)}.`;
  return { code: 'WAITING_FOR_BUDGET', text };
}

const usedUp = (budgets: readonly CountedBudget[], user: string, nowMs: number): CountedBudget | undefined =>
  budgets.find(
    (budget) =>
      budget.action !== 'warn' &&
      budget.period !== 'run' &&
      meets(budget, user) &&
      spentBy(budget, nowMs) >= budget.micros,
  );

const endOf = ({ period }: Budget, nowMs: number): string =>
  new Date(periodEndMs(period, nowMs) ?? nowMs).toISOString();

/** The maximum cost that the budgets allow one run; null when no budget limits runs. */
export function runLimitMicros(budgets: readonly Budget[], user: string): number | null {
  const limits = budgets.flatMap((budget) =>
    budget.period === 'run' && budget.action === 'stop' && meets(budget, user) ? [budget.micros] : [],
  );
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Returns one sentence for each limit that the launch would reach within its lifetime or within the budget's period. */
export function forecast(budgets: readonly CountedBudget[], launching: Launching, nowMs: number): string[] {
  const { microsPerHour, maxCostMicros, maxMs, user } = launching;
  if (microsPerHour === 0) return [];
  const endsAfterMs = Math.min(
    maxMs ?? Infinity,
    maxCostMicros === null ? Infinity : hours(maxCostMicros, microsPerHour),
  );
  const sentences: string[] = [];
  if (maxCostMicros !== null && endsAfterMs < (maxMs ?? Infinity)) {
    sentences.push(
      `It costs up to ${perHour(microsPerHour)}: it reaches its maxCost of ${spellDollars(maxCostMicros)} after ${about(endsAfterMs)}.`,
    );
  }
  for (const budget of budgets) {
    if (!meets(budget, user)) continue;
    const isRun = budget.period === 'run';
    const rate = microsPerHour + (isRun ? 0 : (budget.counted?.microsPerHour ?? 0));
    const left = Math.max(0, budget.micros - (isRun ? 0 : spentBy(budget, nowMs)));
    const usedUpAfterMs = hours(left, rate);
    const periodLeftMs = (periodEndMs(budget.period, nowMs) ?? Infinity) - nowMs;
    if (usedUpAfterMs >= Math.min(endsAfterMs, periodLeftMs)) continue;
    const what =
      budget.action === 'stop' ? 'and is then stopped' : budget.action === 'refuse' ? 'and launches nothing then' : '';
    const costs = isRun
      ? `up to ${perHour(rate)}`
      : `up to ${perHour(microsPerHour)}, ${perHour(rate)} with all that runs`;
    sentences.push(
      `It costs ${costs}: it will exceed ${describeBudget(budget)} after ${about(usedUpAfterMs)}${what === '' ? '' : `, ${what}`}.`,
    );
  }
  return sentences;
}

/** A budget of a single cluster or job cannot apply to one that does not exist yet. */
const meets = ({ subject }: Budget, user: string): boolean =>
  subject.kind === 'workspace' || (subject.kind === 'user' && subject.user === user);

const hours = (micros: number, microsPerHour: number): number => (micros / microsPerHour) * 3_600_000;
const perHour = (micros: number): string => `${spellDollars(micros)} an hour`;

/** Rounds to minutes, or to seconds below one minute. */
const about = (ms: number): string =>
  spellDuration(ms < 60_000 ? Math.ceil(ms / 1_000) * 1_000 : Math.round(ms / 60_000) * 60_000);

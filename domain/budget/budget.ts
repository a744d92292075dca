// A budget: the maximum cost, in dollars, of a workspace, a user, a cluster or a job in a day, in a month or in one run.
import { spellDollars } from './dollars.ts';

export const budgetPeriods = ['run', 'day', 'month'] as const;
/** `run`: each cluster or job of the subject separately, from its start. Days and months are in UTC. */
export type BudgetPeriod = (typeof budgetPeriods)[number];

export const budgetActions = ['warn', 'refuse', 'stop'] as const;
/** The effect of a used-up budget. `refuse`: no launches; `stop`: running clusters and jobs end too. */
export type BudgetAction = (typeof budgetActions)[number];

export type BudgetSubject =
  | { kind: 'workspace' }
  | { kind: 'user'; user: string }
  | { kind: 'cluster' | 'job'; number: number };

export interface Budget {
  name: string;
  subject: BudgetSubject;
  period: BudgetPeriod;
  micros: number;
  /** Share of the amount at which a warning is sent: more than 0, at most 1. */
  warnShare: number;
  action: BudgetAction;
}

/** Maximum number of budgets in a workspace: each is counted every few seconds. */
export const maxBudgets = 200;

/**
 * Time between two counts of a workspace's spending. A budget is exceeded by at most the spending of this time and of the time that terminations
 * take.
 */
export const countEveryMs = 10_000;

/** Start of the current period; 0 for a run, which is counted from its start. */
export function periodStartMs(period: BudgetPeriod, nowMs: number): number {
  const now = new Date(nowMs);
  if (period === 'run') return 0;
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === 'month' ? 1 : now.getUTCDate());
}

/** End of the current period; null for a run. */
export function periodEndMs(period: BudgetPeriod, nowMs: number): number | null {
  const now = new Date(nowMs);
  if (period === 'run') return null;
  if (period === 'month') return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
}

/** `the budget ml-team ($500.00 a month of user ada)` */
export const describeBudget = ({ name, subject, period, micros }: Budget): string =>
  `the budget ${name} (${spellDollars(micros)} ${perPeriod[period]} of ${describeSubject(subject)})`;

export function describeSubject(subject: BudgetSubject): string {
  if (subject.kind === 'workspace') return 'the workspace';
  return subject.kind === 'user' ? `user ${subject.user}` : `${subject.kind} ${subject.number}`;
}

const perPeriod: Readonly<Record<BudgetPeriod, string>> = { run: 'a run', day: 'a day', month: 'a month' };

// A budget: how many dollars a workspace, a user, a cluster or a job may cost in a day, in a month or in one run.
import { spellDollars } from './dollars.ts';

export const budgetPeriods = ['run', 'day', 'month'] as const;
/** `run`: each cluster or job of the subject alone, from its start on. Days and months are those of UTC. */
export type BudgetPeriod = (typeof budgetPeriods)[number];

export const budgetActions = ['warn', 'refuse', 'stop'] as const;
/** What happens when it is used up. `refuse`: no launches; `stop`: what runs ends too. */
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
  /** A warning is given at this share of it: more than 0, at most 1. */
  warnShare: number;
  action: BudgetAction;
}

/** Budgets of one workspace: each is counted every few seconds. */
export const maxBudgets = 200;

/**
 * Between two counts of a workspace's spending: a budget is exceeded by at most what is spent meanwhile, and by what
 * terminations take.
 */
export const countEveryMs = 10_000;

/** When its present period began; 0 for a run, which is counted from its start. */
export function periodStartMs(period: BudgetPeriod, nowMs: number): number {
  const now = new Date(nowMs);
  if (period === 'run') return 0;
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), period === 'month' ? 1 : now.getUTCDate());
}

/** When its present period ends; null for a run. */
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

// Budgets over HTTP.
//
// GET    /v1/budgets            -> budgetList: each with what was counted last
// PUT    /v1/budgets/{budget}   putBudget -> budget; makes or changes; admin
// DELETE /v1/budgets/{budget}   -> budget as it was; admin
import { z } from 'zod';

import { budgetActions, budgetPeriods } from '../domain/budget/budget.ts';
import { nameInput } from './common.ts';
import { userName } from './people.ts';

const number = z.number().int().min(1).max(999_999_999_999);

export const budgetParam = z.object({ budget: nameInput });

export const putBudget = z.strictObject({
  /** At least a cent: less would stop everything, and be shown as $0.00. */
  dollars: z.number().min(0.01).max(1_000_000_000),
  /** `run`: each cluster or job of the subject alone, from its start on. Days and months are those of UTC. */
  period: z.enum(budgetPeriods).default('month'),
  /** Only what this user has started. Without `user`, `cluster` and `job` the budget is the workspace's. */
  user: userName.optional(),
  cluster: number.optional(),
  job: number.optional(),
  /** A warning is given at this percentage. */
  warnAtPercent: z.number().int().min(1).max(100).default(80),
  /** When it is used up. `warn`: an event only; `refuse`: no launches; `stop`: what runs ends too. */
  action: z.enum(budgetActions).default('refuse'),
});
export type PutBudget = z.input<typeof putBudget>;
export type PutBudgetParsed = z.output<typeof putBudget>;

export const budget = z.object({
  name: z.string(),
  dollars: z.number(),
  period: z.enum(budgetPeriods),
  user: z.string().nullable(),
  cluster: z.number().int().nullable(),
  job: z.number().int().nullable(),
  warnAtPercent: z.number().int(),
  action: z.enum(budgetActions),
  /** In the present period; of a budget per run, by the open one that has cost most. */
  spentDollars: z.number(),
  /** Of the instances that exist now. */
  dollarsPerHour: z.number(),
  level: z.enum(['ok', 'warned', 'exceeded']),
  /** Null for runs. */
  periodEndsAt: z.iso.datetime().nullable(),
  /** Null until it was counted for the first time, some seconds after it was made. */
  countedAt: z.iso.datetime().nullable(),
});
export type Budget = z.infer<typeof budget>;

export const budgetList = z.object({ items: z.array(budget) });
export type BudgetList = z.infer<typeof budgetList>;

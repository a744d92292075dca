// Budgets over HTTP.
//
// GET    /v1/budgets            -> budgetList: each with its last count
// PUT    /v1/budgets/{budget}   putBudget -> budget; creates or changes; admin
// DELETE /v1/budgets/{budget}   -> budget as it was; admin
import { z } from 'zod';

import { budgetActions, budgetPeriods } from '../domain/budget/budget.ts';
import { nameInput } from './common.ts';
import { userName } from './people.ts';

const number = z.number().int().min(1).max(999_999_999_999);

export const budgetParam = z.object({ budget: nameInput });

export const putBudget = z.strictObject({
  /** At least a cent: less would stop everything, and read as $0.00. */
  dollars: z.number().min(0.01).max(1_000_000_000),
  /** `run`: each cluster or job of the subject separately, from its start. Days and months are in UTC. */
  period: z.enum(budgetPeriods).default('month'),
  /** Only this user's clusters and jobs. Without `user`, `cluster` and `job` the budget covers the workspace. */
  user: userName.optional(),
  cluster: number.optional(),
  job: number.optional(),
  /** A warning is sent at this percentage. */
  warnAtPercent: z.number().int().min(1).max(100).default(80),
  /** The effect when it is used up. `warn`: an event only; `refuse`: no launches; `stop`: running clusters and jobs end too. */
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
  /** In the current period; for a budget per run, by the most expensive open cluster or job. */
  spentDollars: z.number(),
  /** For the existing instances. */
  dollarsPerHour: z.number(),
  level: z.enum(['ok', 'warned', 'exceeded']),
  /** Null for runs. */
  periodEndsAt: z.iso.datetime().nullable(),
  /** Null until the first count, some seconds after its creation. */
  countedAt: z.iso.datetime().nullable(),
});
export type Budget = z.infer<typeof budget>;

export const budgetList = z.object({ items: z.array(budget) });
export type BudgetList = z.infer<typeof budgetList>;

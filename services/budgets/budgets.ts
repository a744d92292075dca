// Budgets: set, list and delete.
import { periodEndMs, type Budget, type BudgetSubject } from '../../domain/budget/budget.ts';
import { spentBy, type CountedBudget } from '../../domain/budget/admit.ts';
import { levelOf } from '../../domain/budget/standing.ts';
import { dollarsOf, microsOf } from '../../domain/cost/interval.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { Budget as ShownBudget, BudgetList, PutBudgetParsed } from '../../schema/budgets.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { byOf, orRefused } from '../people/rules.ts';
import { time } from '../to-wire.ts';
import { countWorkspace } from './count.ts';

export async function listBudgets({ deps, actor }: Context): Promise<BudgetList> {
  requireScope(actor, 'read');
  const nowMs = deps.now();
  return { items: (await deps.store.budgets.list(actor.workspace)).map((budget) => showBudget(budget, nowMs)) };
}

/** Counts before the answer, so a budget that is already used up acts at once. */
export async function putBudget(
  context: Context,
  { budget: name, ...input }: PutBudgetParsed & { budget: string },
): Promise<ShownBudget> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const { dollars, period, warnAtPercent, action } = input;
  const budget: Budget = {
    ...{ name, subject: subjectOf(input), period, action },
    ...{ micros: microsOf(dollars), warnShare: warnAtPercent / 100 },
  };
  orRefused(await deps.store.budgets.put(actor.workspace, { budget, by: byOf(actor) }, deps.now()));
  await countWorkspace(deps, actor.workspace);
  const known = (await deps.store.budgets.list(actor.workspace)).find((each) => each.name === name);
  return showBudget(known ?? { ...budget, counted: null }, deps.now());
}

export async function removeBudget(context: Context, { budget: name }: { budget: string }): Promise<ShownBudget> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const removed = orRefused(await deps.store.budgets.remove(actor.workspace, { name, by: byOf(actor) }, deps.now()));
  await countWorkspace(deps, actor.workspace);
  return showBudget({ ...removed, counted: null }, deps.now());
}

function subjectOf({ user, cluster, job }: PutBudgetParsed): BudgetSubject {
  if ([user, cluster, job].filter((each) => each !== undefined).length > 1) {
    throw new RopewalkError({
      code: 'VALIDATION',
      field: job === undefined ? 'cluster' : 'job',
      message: 'A budget has one subject: a user, a cluster, a job, or without them the workspace.',
      hint: 'Keep one of them, and make a second budget for the other.',
    });
  }
  if (user !== undefined) return { kind: 'user', user };
  if (cluster !== undefined) return { kind: 'cluster', number: cluster };
  return job === undefined ? { kind: 'workspace' } : { kind: 'job', number: job };
}

function showBudget(budget: CountedBudget, nowMs: number): ShownBudget {
  const { name, subject, period, micros, warnShare, action, counted } = budget;
  const endsAtMs = periodEndMs(period, nowMs);
  const spent = Math.round(spentBy(budget, nowMs));
  return {
    ...{ name, dollars: dollarsOf(micros), period, action, warnAtPercent: Math.round(warnShare * 100) },
    user: subject.kind === 'user' ? subject.user : null,
    cluster: subject.kind === 'cluster' ? subject.number : null,
    job: subject.kind === 'job' ? subject.number : null,
    spentDollars: dollarsOf(spent),
    dollarsPerHour: dollarsOf(counted?.microsPerHour ?? 0),
    level: levelOf(budget, spent),
    periodEndsAt: endsAtMs === null ? null : time(endsAtMs),
    countedAt: counted === null ? null : time(counted.atMs),
  };
}

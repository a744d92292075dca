// Budgets as people set and see them.
import { isDeepStrictEqual } from 'node:util';

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

/**
 * Counted before the answer: a budget that is used up already acts at once.
 * @throws RopewalkError NOT_FOUND and VALIDATION for a subject that costs nothing any more: a mistyped one would limit nothing.
 */
export async function putBudget(
  context: Context,
  { budget: name, ...input }: PutBudgetParsed & { budget: string },
): Promise<ShownBudget> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const { dollars, period, warnAtPercent, action } = input;
  const subject = subjectOf(input);
  await requireSubject(context, name, subject);
  const budget: Budget = {
    ...{ name, subject, period, action },
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

/** A budget that is there may be changed after its subject has ended. */
async function requireSubject({ deps, actor }: Context, name: string, subject: BudgetSubject): Promise<void> {
  if (subject.kind === 'workspace') return;
  const known = (await deps.store.budgets.list(actor.workspace)).find((each) => each.name === name);
  if (known !== undefined && isDeepStrictEqual(known.subject, subject)) return;
  if (subject.kind === 'user') {
    const users = await deps.store.people.listUsers(actor.workspace);
    if (!users.some((each) => each.name === subject.user)) throw noUser(subject.user);
    return;
  }
  const { kind, number } = subject;
  const { views } = deps;
  const { record } = await (kind === 'job'
    ? views.jobRow(actor.workspace, number)
    : views.clusterRow(actor.workspace, number));
  if (record.state === 'ended') throw hasEnded(kind, number);
}

const noUser = (user: string): RopewalkError =>
  new RopewalkError({
    code: 'NOT_FOUND',
    field: 'user',
    message: `user: the workspace has no user ${user}.`,
    hint: '`ropewalk user list` lists the people of the workspace.',
  });

const hasEnded = (kind: 'job' | 'cluster', number: number): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: kind,
    message: `${kind}: the ${kind} ${number} has ended, and costs nothing more.`,
    hint: 'Name an open one.',
  });

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

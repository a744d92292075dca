// A cluster at a past time, from its history and the cost ledger.
import type { ClusterView } from '../../contracts/cluster.ts';
import { applyMoment, type ClusterAt as Folded, clusterAt, createFold, withView } from '../../domain/cluster/at.ts';
import { dollarsOf } from '../../domain/cost/interval.ts';
import { mergeEntries } from '../../domain/cost/ledger.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { AtQuery, ClusterAt } from '../../schema/history.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { timeOf } from '../list-query.ts';
import { readHistory } from './history.ts';
import { time, wireEvent } from '../to-wire.ts';

/** @throws RopewalkError NOT_FOUND, VALIDATION for a time before its start or in the future, FORBIDDEN for another user's private cluster. */
export async function getClusterAt(
  { deps, actor }: Context,
  { number, time: text }: { number: number } & AtQuery,
): Promise<ClusterAt> {
  requireScope(actor, 'read');
  const { view, record } = await deps.views.cluster(actor.workspace, number);
  requireCreator(actor, 'Cluster', record, 'may see what it was');
  const atMs = pastTime(deps, text, { what: `cluster ${number}`, fromMs: view.createdAtMs });
  const at = await foldCluster(deps, view, atMs);
  return {
    ...{ number, name: view.name, at: time(atMs) },
    ...{ status: at.status, reason: wireReason(at.reason), target: at.target, instances: instancesOf(at) },
    workersStarted: view.dask === null ? null : at.workersStarted,
    events: at.events.map(wireEvent),
    ...moneyOf(at),
  };
}

/** @throws RopewalkError VALIDATION */
export function pastTime(
  deps: Deps,
  text: string | undefined,
  { what, fromMs }: { what: string; fromMs: number },
): number {
  const nowMs = deps.now();
  const atMs = timeOf(text, 'time', nowMs) ?? nowMs;
  const isPast = atMs <= nowMs;
  if (isPast && atMs >= fromMs) return atMs;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'time',
    message: isPast ? `time: ${what} did not exist at ${time(atMs)}.` : `time: ${time(atMs)} is to come.`,
    hint: `Give a time from ${time(fromMs)} on, up to now.`,
  });
}

/** Requires a view that was read first: entries that leave it afterwards are in the database. */
export async function foldCluster({ store }: Deps, view: ClusterView, atMs: number): Promise<Folded> {
  const fold = createFold();
  for await (const moment of readHistory(store, { cluster: view.number, untilMs: atMs })) applyMoment(fold, moment);
  for (const moment of view.history ?? []) if (moment.atMs <= atMs) applyMoment(fold, moment);
  const written = (await store.costs.ofClusters([view.number])).get(view.number) ?? [];
  return withView(clusterAt(fold, mergeEntries(view.costs ?? [], written), atMs), fold, view, atMs);
}

export const instancesOf = ({ instances }: Folded): ClusterAt['instances'] =>
  instances.map(({ stages, ...instance }) => ({
    ...instance,
    stages: stages.map(({ name, atMs }) => ({ name, at: time(atMs) })),
  }));

export const moneyOf = ({ micros, microsPerHour }: Folded): Pick<ClusterAt, 'dollars' | 'dollarsPerHour'> => ({
  dollars: dollarsOf(micros),
  dollarsPerHour: dollarsOf(microsPerHour),
});

export const wireReason = (reason: Folded['reason']): ClusterAt['reason'] =>
  reason === null ? null : { code: reason.code, text: reason.text, at: time(reason.atMs) };

// The cost of one job or cluster over time, for users who may see its instances.
import { dollarsOf } from '../../domain/cost/interval.ts';
import { costOverTime } from '../../domain/cost/over-time.ts';
import type { CostOverTime } from '../../schema/costs.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { time } from '../to-wire.ts';

export async function readJobCosts(context: Context, { number }: { number: number }): Promise<CostOverTime> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const { record } = await deps.views.jobRow(actor.workspace, number);
  requireCreator(actor, 'Job', record, 'may see its cost over time');
  return read(context, number);
}

export async function readClusterCosts(context: Context, { number }: { number: number }): Promise<CostOverTime> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const { record } = await deps.views.clusterRow(actor.workspace, number);
  requireCreator(actor, 'Cluster', record, 'may see its cost over time');
  return read(context, number);
}

/** A job and the cluster of its instances share one number. */
async function read({ deps }: Context, number: number): Promise<CostOverTime> {
  const intervals = (await deps.store.costs.ofClusters([number])).get(number) ?? [];
  const points = costOverTime(intervals, deps.now(), pointsShown);
  return { points: points.map(({ atMs, micros }) => ({ at: time(atMs), dollars: dollarsOf(micros) })) };
}

const pointsShown = 121;

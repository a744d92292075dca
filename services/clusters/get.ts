// One cluster, open or ended.
import type { Cluster } from '../../schema/clusters.ts';
import { requireScope } from '../auth/scopes.ts';
import { withCost } from '../costs/of-numbers.ts';
import type { Context } from '../context.ts';
import { showCluster } from '../shown.ts';

export async function getCluster(context: Context, { number }: { number: number }): Promise<Cluster> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  return withCost(context, showCluster(context, await deps.views.cluster(actor.workspace, number)));
}

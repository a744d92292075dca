// One cluster, open or over.
import type { Cluster } from '../../../schema/clusters.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { toWireCluster } from '../to-wire.ts';

export async function getCluster({ deps, actor }: Context, { number }: { number: number }): Promise<Cluster> {
  requireScope(actor, 'read', { honourStale: true });
  return toWireCluster(await deps.views.cluster(actor.workspace, number));
}

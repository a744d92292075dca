// Ends a cluster and all its instances. Stopping what is over changes nothing.
import type { Cluster } from '../../../schema/clusters.ts';
import { clusterMessages, clusterWorkflowId, type StopSignal } from '../../../workflows/cluster/messages.ts';
import { ownedCluster, requireMayEnd } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { toWireCluster } from '../to-wire.ts';
import { notYet } from './open-dask.ts';

export async function stopCluster({ deps, actor }: Context, { number }: { number: number }): Promise<Cluster> {
  requireScope(actor, 'write', { honourStale: true });
  const { view } = await deps.views.cluster(actor.workspace, number);
  requireMayEnd(actor, await ownedCluster(deps, view));
  if (view.endedAtMs === null) {
    const stop: StopSignal = { code: 'STOPPED', text: `Stopped by ${actor.user}.`, by: actor.user };
    const sent = await deps.workflows.signal(clusterWorkflowId(number), clusterMessages.stop, stop);
    if (sent.kind === 'missing' && view.status === 'pending') throw notYet(number);
    deps.views.expire(number);
    deps.orders.wake({ workspace: actor.workspace, cluster: number });
  }
  return toWireCluster(await deps.views.cluster(actor.workspace, number));
}

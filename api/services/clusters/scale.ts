// Asks for another number of workers. The workspace's limits are not checked here: they were when the cluster was
// admitted, with the workers it had then; launches beyond what the provider allows fail with its reason.
import type { Cluster } from '../../../schema/clusters.ts';
import { clusterMessages, type ScaleSignal } from '../../../workflows/cluster/messages.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { toWireCluster } from '../to-wire.ts';
import { findOpenDask, signalCluster } from './open-dask.ts';

export async function scaleCluster(
  context: Context,
  { number, workers }: { number: number; workers: number },
): Promise<Cluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write', { honourStale: false });
  const { view } = await findOpenDask(context, number);
  // The head instance, which runs the scheduler, is one more.
  const scale: ScaleSignal = { instances: workers + 1 };
  await signalCluster(context, view, clusterMessages.scale, scale);
  return toWireCluster(await deps.views.cluster(actor.workspace, number));
}

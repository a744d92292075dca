// Requests another number of workers, within the limits of workspace and user.
import type { Cluster } from '../../schema/clusters.ts';
import { type AdaptSignal, clusterMessages, type ScaleSignal } from '../../contracts/cluster.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { requireGrowth } from '../approvals/growth.ts';
import { showCluster } from '../shown.ts';
import { findOpenDask } from './open-dask.ts';
import { withShare } from './share.ts';

export async function scaleCluster(
  context: Context,
  { number, workers }: { number: number; workers: number },
): Promise<Cluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { view, record } = await findOpenDask(context, number);
  requireCreator(actor, 'Cluster', record, 'may scale it');
  // One more for the head instance, which runs the scheduler.
  const instances = workers + 1;
  await requireGrowth(context, { view, record }, instances);
  await withShare<ScaleSignal>(context, view, clusterMessages.scale, {
    kind: 'scale',
    instances,
    signal: (asked) => ({ instances, ...asked }),
  });
  // This request has turned adaptive scaling off, so its maximum need not stay reserved.
  if (view.dask !== null && view.dask.adaptive !== null) {
    await withShare<AdaptSignal>(context, view, clusterMessages.adapt, {
      kind: 'adapt',
      instances: 0,
      signal: (asked) => ({ adaptive: null, ...asked }),
    });
  }
  return showCluster(context, await deps.views.cluster(actor.workspace, number));
}

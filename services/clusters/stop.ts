// Ends a cluster and all its instances. Stopping an ended one changes nothing. While Temporal is unavailable the command is
// stored.
import type { Cluster } from '../../schema/clusters.ts';
import { requireMayEnd } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import { endNowOrLater } from '../commands/end.ts';
import type { Context } from '../context.ts';
import { showCluster } from '../shown.ts';

export async function stopCluster(context: Context, { number }: { number: number }): Promise<Cluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const known = await deps.views.clusterRow(actor.workspace, number);
  requireMayEnd(actor, 'Cluster', known.record);
  if (known.view.endedAtMs !== null) return showCluster(context, known);
  const { workspace, user: by } = actor;
  const ended = await endNowOrLater(deps, { kind: 'stop', tasks: '', number, workspace, by }, known.record);
  if (ended === 'later') return { ...showCluster(context, known), acceptedForLater: true };
  deps.views.expire(number);
  deps.orders.wake({ workspace, cluster: number });
  return showCluster(context, await deps.views.cluster(workspace, number));
}

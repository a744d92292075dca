// Ends a cluster and all its instances. Stopping an ended cluster changes nothing. While Temporal is unavailable, the command is stored.
import type { ClusterView } from '../../contracts/cluster.ts';
import type { Cluster } from '../../schema/clusters.ts';
import type { StoredRecord } from '../../store/store.ts';
import { deleteSealed } from '../admission/start.ts';
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
  if (known.record.state === 'waiting' && (await endWaitingCluster(context, known.record))) {
    return showCluster(context, await deps.views.clusterRow(workspace, number));
  }
  const ended = await endNowOrLater(deps, { kind: 'stop', tasks: '', number, workspace, by }, known.record);
  if (ended === 'later') return { ...showCluster(context, known), acceptedForLater: true };
  deps.views.expire(number);
  deps.orders.wake({ workspace, cluster: number });
  return showCluster(context, await deps.views.cluster(workspace, number));
}

/** Returns false when the cluster has left the queue meanwhile. */
async function endWaitingCluster({ deps, actor }: Context, record: StoredRecord<ClusterView>): Promise<boolean> {
  const reason = { code: 'STOPPED', text: `Stopped by ${actor.user}.` };
  const isEnded = await deps.store.admissions.cancelWaiting(record.number, reason, deps.now());
  if (isEnded) await deleteSealed(deps.vault, record);
  return isEnded;
}

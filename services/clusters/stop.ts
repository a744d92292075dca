// Ends a cluster and all its instances. Stopping what is over changes nothing. While Temporal is away it is written down.
import type { Cluster } from '../../schema/clusters.ts';
import { ownedCluster, requireMayEnd } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { endNowOrLater } from '../intents/intents.ts';
import { lastKnownCluster } from '../intents/last-known.ts';
import { showCluster } from '../shown.ts';
import { notYet } from './open-dask.ts';

export async function stopCluster(context: Context, { number }: { number: number }): Promise<Cluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write', { honourStale: true });
  const known = await lastKnownCluster(context, number);
  const { view } = known;
  requireMayEnd(actor, await ownedCluster(deps, view));
  if (view.endedAtMs === null) {
    const { workspace, user } = actor;
    const told = await endNowOrLater(deps, { kind: 'stop', number, workspace, by: user });
    if (told === 'later') return { ...(await showCluster(context, known)), acceptedForLater: true };
    if (told === 'missing' && view.status === 'pending') throw notYet(number);
    deps.views.expire(number);
    deps.orders.wake({ workspace, cluster: number });
  }
  return showCluster(context, await lastKnownCluster(context, number));
}

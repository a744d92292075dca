// A cluster's request for another size: its share of the limits is taken before the cluster is told, and what it no longer
// needs is given back after. Whoever dies in between leaves too much taken, never too little; the next request mends it.
import type { ShareKind } from '../../domain/workspace/shares.ts';
import type { AskedBy, ClusterView } from '../../contracts/cluster.ts';
import { requireScope } from '../auth/scopes.ts';
import { verifyAgain } from '../auth/verify-token.ts';
import type { Context } from '../context.ts';
import { signalCluster } from './open-dask.ts';

export async function withShare<S extends AskedBy>(
  context: Context,
  view: ClusterView,
  message: string,
  { kind, most, signal }: { kind: ShareKind; most: number; signal: S },
): Promise<void> {
  const { deps, actor } = context;
  const { number } = view;
  // Looking for the cluster takes as long as it does: whoever may no longer write by now takes nothing.
  requireScope(await verifyAgain(deps, actor), 'write', { honourStale: false });
  const { seq } = await deps.people.share(actor.workspace, {
    do: 'reserve',
    share: { number, kind, instances: most },
  });
  deps.views.expireWorkspace(actor.workspace);
  await signalCluster<S>(context, view, message, { ...signal, by: actor.user, seq });
  await deps.people.share(actor.workspace, { do: 'settle', share: { number, kind, seq } });
}

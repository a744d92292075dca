// Resizes a cluster: its quota is reserved before the cluster is signalled, and the excess is released after. A process that crashes in between
// leaves too much reserved, never too little; the next request repairs it.
import type { AskedBy, ClusterView } from '../../contracts/cluster.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { ShareKind } from '../../domain/quota/state.ts';
import { requireScope } from '../auth/scopes.ts';
import { verifyAgain } from '../auth/verify-token.ts';
import type { Context } from '../context.ts';
import { signalCluster } from './open-dask.ts';

/** `signal` creates the signal from the user and the sequence number of the reservation. */
export async function withShare<S extends AskedBy>(
  context: Context,
  view: ClusterView,
  message: string,
  { kind, instances, signal }: { kind: ShareKind; instances: number; signal: (asked: Required<AskedBy>) => S },
): Promise<void> {
  const { deps, actor } = context;
  const { number } = view;
  // Reading the cluster may take long, and the token may have been revoked meanwhile.
  requireScope(await verifyAgain(deps, actor), 'write');
  const { quotas } = deps.store;
  const reserved = await quotas.reserve({ number, kind, instances }, deps.now());
  if ('error' in reserved) throw new RopewalkError(reserved.error, { retryAfterMs: 1_000 });
  const { seq } = reserved.ok;
  await signalCluster<S>(context, view, message, signal({ by: actor.user, seq }));
  await quotas.settle({ number, kind, seq });
}

// A client's keepalive, which may set the no-client timeout.
import type { Cluster } from '../../schema/clusters.ts';
import { clusterMessages, type KeepaliveSignal } from '../../contracts/cluster.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { showCluster } from '../shown.ts';
import { optionalMs } from './durations.ts';
import { findOpenDask, signalCluster } from './open-dask.ts';

export interface KeepaliveInput {
  number: number;
  timeout?: string | number | undefined;
}

export async function keepCluster(context: Context, { number, timeout }: KeepaliveInput): Promise<Cluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const noClientTimeoutMs = optionalMs(timeout, 'timeout');
  const { view, record } = await findOpenDask(context, number);
  requireCreator(actor, 'Cluster', record, 'may keep it');
  if (!deps.keepalives.isRecent(number, noClientTimeoutMs, noClientTimeoutMs ?? view.dask?.noClientTimeoutMs ?? null)) {
    const keepalive: KeepaliveSignal = { noClientTimeoutMs };
    await signalCluster(context, view, clusterMessages.keepalive, keepalive);
    deps.keepalives.sent(number, noClientTimeoutMs);
  }
  return showCluster(context, await deps.views.cluster(actor.workspace, number));
}

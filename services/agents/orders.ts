// The orders of a Dask cluster's agent, held until there is a newer version than the agent's. Only the head instance's agent drains workers; the
// others do not receive their names.
import { RopewalkError } from '../../domain/errors.ts';
import { maxHeldOrders } from '../../domain/requests/limits.ts';
import type { ClusterView, Orders } from '../../contracts/cluster.ts';
import { callerOfInstance } from '../auth/caller.ts';
import type { InstanceContext } from '../context.ts';
import type { ClusterKey } from '../order-watch.ts';
import type { Views } from '../views.ts';
import { requireLive } from './live-instance.ts';

export interface OrdersInput {
  /** The agent's version; absent when it has none. */
  seen?: number | undefined;
  /** Aborts when the agent has disconnected. */
  signal: AbortSignal;
}

export async function readOrders(context: InstanceContext, { seen = -1, signal }: OrdersInput): Promise<Orders> {
  const { deps, actor } = context;
  const { workspace, cluster, job, instance } = actor;
  if (job !== null) throw noOrders(job);
  deps.heard.touch(cluster, instance);
  const release = deps.quotas.stream(callerOfInstance(actor), maxHeldOrders);
  const orders = await deps.orders
    .wait({ workspace, cluster }, seen, AbortSignal.any([signal, deps.stopping]))
    .finally(release);
  if (orders.stop !== null) return orders;
  // Most polls end here. They query no workflow, and reveal nothing to an instance that was given up.
  if (orders.version <= seen) return { ...unchanged, version: orders.version };
  await requireLive(context, knownMaxAgeMs);
  if (orders.drain.length === 0) return orders;
  const view = await deps.views.clusterOfAgent(workspace, cluster, roleMaxAgeMs);
  return ordersFor(view.instances.find(({ id }) => id === instance)?.role ?? null, orders);
}

const unchanged = { schedulerAddress: null, drain: [], adaptive: null, stop: null };

/** An instance of unknown role gets all orders; the agent knows its own role. */
export const ordersFor = (role: 'head' | 'worker' | null, orders: Orders): Orders =>
  role === 'worker' ? { ...orders, drain: [] } : orders;

/** Reads orders from the workflow for the watch; for a cluster that has ended or is unknown, the order is to stop. */
export async function readClusterOrders(views: Views, key: ClusterKey, maxAgeMs: number): Promise<Orders> {
  const { workspace, cluster } = key;
  try {
    const view = await views.clusterOfAgent(workspace, cluster, maxAgeMs);
    if (hasEnded(view)) return endedOrders(cluster, view.dask?.orders ?? null);
    if (view.dask === null) throw noOrders(cluster);
    return view.dask.orders;
  } catch (error) {
    if (error instanceof RopewalkError && error.problem.code === 'NOT_FOUND') return endedOrders(cluster, null);
    throw error;
  }
}

/** Reads orders from the database for the watch; null while there is no view, or no Dask. */
export async function readRowOrders(views: Views, { workspace, cluster }: ClusterKey): Promise<Orders | null> {
  const { view, record } = await views.clusterRow(workspace, cluster);
  if (record.state === 'ended' || hasEnded(view)) return endedOrders(cluster, view.dask?.orders ?? null);
  return record.view === null ? null : (view.dask?.orders ?? null);
}

const hasEnded = ({ endedAtMs, status }: ClusterView): boolean =>
  endedAtMs !== null || status === 'stopped' || status === 'error';

const endedOrders = (cluster: number, last: Orders | null): Orders => ({
  version: last?.version ?? 0,
  schedulerAddress: null,
  drain: [],
  adaptive: null,
  stop: { code: 'CLUSTER_OVER', text: `Cluster ${cluster} has ended.` },
});

/** As long as orders are held. */
const knownMaxAgeMs = 20_000;
/** A role never changes; only a newer instance is looked up again. */
const roleMaxAgeMs = 5_000;

const noOrders = (job: number) =>
  new RopewalkError({ code: 'FORBIDDEN', message: `Cluster ${job} works for a job: there are no orders, only tasks.` });

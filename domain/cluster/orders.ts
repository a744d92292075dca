// Orders for the agents of a Dask cluster: the scheduler's address, the workers to drain, and the stop of the cluster.
import type { Adaptive } from './dask/adaptive-settings.ts';
import type { ClusterState } from './state.ts';

export interface ClusterOrders {
  version: number;
  schedulerAddress: string | null;
  drain: { id: number; worker: string; deadlineSeconds: number }[];
  /** How the scheduler evaluates its load; null for Dask's defaults, while adaptive scaling is off. */
  adaptive: { targetDurationSeconds: number; intervalSeconds: number } | null;
  stop: { code: string; text: string } | null;
}

export function ordersOf(state: ClusterState): ClusterOrders | null {
  const { dask, stopRequested } = state;
  if (dask === null) return null;
  const deadlineSeconds = (state.settings.dask?.drainTimeoutMs ?? 0) / 1000;
  return {
    version: dask.ordersVersion,
    schedulerAddress: dask.schedulerAddress,
    drain: state.instances.flatMap(({ agent }) =>
      agent?.drain?.outcome === null ? [{ id: agent.drain.id, worker: agent.drain.worker, deadlineSeconds }] : [],
    ),
    adaptive: adaptiveOrder(dask.adaptive),
    stop: stopRequested === null ? null : { code: stopRequested.code, text: stopRequested.text },
  };
}

const adaptiveOrder = (adaptive: Adaptive | null): ClusterOrders['adaptive'] =>
  adaptive === null
    ? null
    : { targetDurationSeconds: adaptive.targetDurationMs / 1_000, intervalSeconds: adaptive.intervalMs / 1_000 };

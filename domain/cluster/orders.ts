// What the agents of a Dask cluster are told: where the scheduler is, which workers to drain, and when it is over.
import type { ClusterState } from './state.ts';

export interface ClusterOrders {
  version: number;
  schedulerAddress: string | null;
  drain: { id: number; worker: string; deadlineSeconds: number }[];
  stop: { code: string; text: string } | null;
}

export function ordersOf(state: ClusterState): ClusterOrders | null {
  const { dask, stopRequested } = state;
  if (dask === null) return null;
  const deadlineSeconds = (state.settings.dask?.drainTimeoutMs ?? 0) / 1000;
  return {
    version: dask.ordersVersion,
    schedulerAddress: dask.schedulerAddress,
    drain: state.instances.flatMap(({ drain }) =>
      drain === null || drain.outcome !== null ? [] : [{ id: drain.id, worker: drain.worker, deadlineSeconds }],
    ),
    stop: stopRequested === null ? null : { code: stopRequested.code, text: stopRequested.text },
  };
}

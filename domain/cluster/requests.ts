// Users' requests to a cluster. A stop always wins, and repeating it changes nothing.
import type { Reason } from '../reason.ts';
import { addEvent, touchOrders } from './notes.ts';
import { selectWorkersToKeep } from './slot/slots.ts';
import type { ClusterState } from './state.ts';
import { noteReady } from './status.ts';

export function stopCluster(state: ClusterState, reason: Reason): void {
  if (state.stopRequested !== null) return;
  state.stopRequested = reason;
  addEvent(state, reason.atMs, reason.code, reason.text, reason.by);
  touchOrders(state);
}

/** Forbids launches for this reason, or allows them again. The same reason twice is one event. */
export function holdLaunches(state: ClusterState, why: Omit<Reason, 'atMs'> | null, nowMs: number): void {
  if (state.stopRequested !== null || state.hold?.text === why?.text) return;
  if (why === null) {
    delete state.hold;
    addEvent(state, nowMs, 'HOLD_ENDED', 'launches are allowed again');
    return;
  }
  state.hold = { ...why, atMs: nowMs };
  addEvent(state, nowMs, why.code, `no more launches: ${why.text}`);
}

/** The user who asks, and the sequence number of the reservation. Among requests of one kind, the newest number counts. */
export interface Asked {
  by?: string;
  seq?: number;
}

/** True for a request that a newer one has overtaken; stores the number otherwise. */
export function isOvertaken(state: ClusterState, kind: 'scale' | 'adapt', { seq }: Asked): boolean {
  if (seq === undefined) return false;
  if (seq < (state.asked?.[kind] ?? 0)) return true;
  state.asked = { ...state.asked, [kind]: seq };
  return false;
}

/**
 * A user sets the number of instances, the head instance included. This turns adaptive scaling off, which would undo the request. Ignored after a
 * stop was requested.
 */
export function scaleCluster(state: ClusterState, instances: number, nowMs: number, asked: Asked = {}): void {
  if (isOvertaken(state, 'scale', asked) || state.stopRequested !== null) return;
  const { dask } = state;
  const isAdaptive = dask !== null && dask.adaptive !== null;
  if (dask !== null) Object.assign(dask, { adaptive: null, fewer: [] });
  if (isAdaptive) touchOrders(state);
  if (!setTarget(state, instances) && !isAdaptive) return;
  const off = isAdaptive ? '; adaptive scaling is off' : '';
  addEvent(state, nowMs, 'SCALE', `asked for ${state.target} instances${off}`, asked.by);
  noteReady(state, nowMs);
}

/** Adaptive scaling sets the number of instances, the head instance included. */
export function resizeCluster(state: ClusterState, instances: number, nowMs: number): void {
  if (state.stopRequested !== null || !setTarget(state, instances)) return;
  addEvent(state, nowMs, 'SCALE', `adaptive scaling asked for ${state.target} instances`);
  noteReady(state, nowMs);
}

/**
 * Returns false when nothing changes. The caller then checks whether the cluster is ready: a smaller number of instances may exist already, and a
 * cluster that had all its instances has started, whatever its next target.
 */
function setTarget(state: ClusterState, instances: number): boolean {
  const target = Math.max(1, Math.floor(instances));
  const before = state.target;
  if (target === before) return false;
  if (target < before && state.dask !== null) selectWorkersToKeep(state, target);
  // Adaptive scaling's waiting times belong to the previous target, so they begin again.
  if (state.dask !== null) state.dask.fewer = [];
  state.target = target;
  return true;
}

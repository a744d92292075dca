// What people ask of a cluster. Stop always wins, and is the same when asked twice.
import type { Reason } from '../reason.ts';
import { addEvent } from './create.ts';
import type { ClusterState } from './state.ts';

export function stopCluster(state: ClusterState, reason: Reason): void {
  if (state.stopRequested !== null) return;
  state.stopRequested = reason;
  addEvent(state, reason.atMs, reason.code, reason.text);
}

/** Sets the number of instances wanted, the head instance included. Ignored once a stop was asked for. */
export function scaleCluster(state: ClusterState, instances: number, nowMs: number): void {
  if (state.stopRequested !== null || instances === state.target) return;
  state.target = Math.max(1, Math.floor(instances));
  addEvent(state, nowMs, 'SCALE', `asked for ${state.target} instances`);
}

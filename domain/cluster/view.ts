// What people see of a cluster, derived from its state and nothing else.
import type { Reason } from '../reason.ts';
import type { ClusterState, ClusterStatus } from './state.ts';

/** The one word for a cluster, worked out in order of priority. */
export function clusterStatus(state: ClusterState): ClusterStatus {
  if (state.endedAtMs !== null) return failed(state.stopRequested) ? 'error' : 'stopped';
  if (state.stopRequested !== null) return 'stopping';
  if (state.launched === 0 && state.launches.length === 0) return 'pending';
  if (isSettled(state)) return 'ready';
  return state.readyAtMs === null ? 'starting' : 'scaling';
}

/** Every slot has its instance ready, or was given up. Slots beyond the target, from before a scale-down, do not count. */
export function isSettled(state: ClusterState): boolean {
  const ready = new Set(state.instances.flatMap((instance) => (instance.state === 'ready' ? [instance.slot] : [])));
  for (let slot = 0; slot < state.target; slot += 1) {
    if (!ready.has(slot) && !state.slots[slot]?.givenUp) return false;
  }
  return true;
}

function failed(reason: Reason | null): boolean {
  return reason?.code === 'NO_INSTANCES';
}

/** Where the head instance can be reached, once it has registered. */
export function headAddress(state: ClusterState): string | null {
  return state.instances.find((instance) => instance.slot === 0 && instance.state === 'ready')?.address ?? null;
}

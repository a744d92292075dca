// What people see of a cluster, derived from its state and nothing else.
import type { Reason } from '../reason.ts';
import type { ClusterState, ClusterStatus } from './state.ts';

/** The one word for a cluster, worked out in order of priority. */
export function clusterStatus(state: ClusterState): ClusterStatus {
  if (state.endedAtMs !== null) return failed(state.stopRequested) ? 'error' : 'stopped';
  if (state.stopRequested !== null) return 'stopping';
  if (state.launched === 0 && state.launches.length === 0) return 'pending';
  const ready = state.instances.filter((instance) => instance.state === 'ready').length;
  const givenUp = Object.values(state.slots).filter((slot) => slot.givenUp !== null).length;
  if (ready + givenUp >= state.target) return 'ready';
  return state.readyAtMs === null ? 'starting' : 'scaling';
}

function failed(reason: Reason | null): boolean {
  return reason?.code === 'NO_INSTANCES';
}

/** Where the head instance can be reached, once it has registered. */
export function headAddress(state: ClusterState): string | null {
  return state.instances.find((instance) => instance.slot === 0 && instance.state === 'ready')?.address ?? null;
}

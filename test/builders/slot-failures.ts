import type { ClusterState } from '../../domain/cluster/state.ts';

/** The failure streak of an open slot; null for a slot that was given up. */
export function failuresOf({ slots }: ClusterState, slot: number): number | null {
  const history = slots[slot];
  if (history === undefined) return 0;
  return history.givenUp === null ? history.failures : null;
}

// An instance that its cloud ended, or that powered itself off, before its agent registered. The cluster replaces it at once with the
// cloud's own reason, instead of waiting out the register timeout and blaming the network.
import { endedWhileStarting, lose } from './lose.ts';
import type { ClusterState, StartingInstance } from '../state.ts';

/** `why`: the provider's own words, where it knows a reason. */
export function applyEarlyEnd(
  state: ClusterState,
  instance: StartingInstance,
  why: string | undefined,
  nowMs: number,
): void {
  const text = `the instance ended before its agent registered${why === undefined ? '' : `: ${why}`}`;
  lose(state, instance, { code: endedWhileStarting, text, atMs: nowMs });
}

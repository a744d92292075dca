// An instance that its cloud ended, or that powered itself off, before its agent registered. The cluster replaces it at once and records the cloud's
// reason, instead of waiting for the register timeout and blaming the network.
import { endedWhileStarting, lose } from './lose.ts';
import type { ClusterState, StartingInstance } from '../state.ts';

/** `why`: the provider's reason, where it knows one. */
export function applyEarlyEnd(
  state: ClusterState,
  instance: StartingInstance,
  why: string | undefined,
  nowMs: number,
): void {
  const text = `the instance ended before its agent registered${why === undefined ? '' : `: ${why}`}`;
  lose(state, instance, { code: endedWhileStarting, text, atMs: nowMs });
}

// Handles a registration that the API refused: the API reports it, and the cluster replaces the instance at once with the reason, instead of waiting
// for the register timeout of an agent that has given up. Only an unregistered instance can be lost this way, and only by a caller with its own
// cluster's launch token.
import { lose } from './lose.ts';
import type { ClusterInstance, ClusterState } from '../state.ts';

export const registrationRefused = 'REGISTRATION_REFUSED';

export function applyRefusal(state: ClusterState, instance: ClusterInstance, why: string, nowMs: number): void {
  if (instance.state !== 'starting') return;
  const text = `the API refused the registration of its agent: ${why}`;
  lose(state, instance, { code: registrationRefused, text, atMs: nowMs });
}

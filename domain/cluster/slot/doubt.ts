// Instances that are launched and never register are most often the network's fault, and more of the same would cost as much
// and help as little: from then on one is launched at a time, until one registers, or so many in a row have not.
import { maxNeverRegistered } from '../../limits.ts';
import type { Reason } from '../../reason.ts';
import { addEvent } from '../notes.ts';
import { slotHistory, vacantSlots } from './slots.ts';
import type { ClusterInstance, ClusterState } from '../state.ts';

/** Instances that never registered have been terminated. Those that were launched before the first doubt say nothing new. */
export function noteNeverRegistered(state: ClusterState, failed: ClusterInstance[], reason: Reason): void {
  const { doubt } = state;
  if (doubt === undefined) {
    state.doubt = { fromSeq: state.nextLaunchSeq, failed: 0 };
    const text = 'instances do not register: from now on one is launched at a time, until one does';
    if (vacantSlots(state).length > 1) addEvent(state, reason.atMs, 'PROBING', text);
    return;
  }
  doubt.failed += failed.filter((instance) => isProbe(state, instance)).length;
  if (doubt.failed < maxNeverRegistered - 1) return;
  for (const slot of vacantSlots(state)) slotHistory(state, slot).givenUp = reason;
}

/** Instances can register: those that are missing are launched all at once again. */
export function noteRegistered(state: ClusterState): void {
  delete state.doubt;
}

/** Vacant slots that may be filled now, as far as others are concerned; in doubt one of those that have failed. */
export function launchableSlots(state: ClusterState): number[] {
  const vacant = vacantSlots(state);
  const { doubt } = state;
  if (doubt === undefined || vacant.length === 0) return vacant;
  const isUnderWay =
    state.instances.some((instance) => isProbe(state, instance)) ||
    state.launches.some(({ seq }) => seq >= doubt.fromSeq);
  if (isUnderWay) return [];
  const failed = vacant.filter((slot) => (state.slots[slot]?.unregistered ?? 0) > 0);
  return (failed.length > 0 ? failed : vacant).slice(0, 1);
}

const isProbe = ({ doubt }: ClusterState, { launchSeq, registeredAtMs }: ClusterInstance): boolean =>
  doubt !== undefined && registeredAtMs === null && launchSeq >= doubt.fromSeq;

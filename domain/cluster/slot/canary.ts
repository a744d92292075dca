// Canary launches. Instances that never register usually have a network fault, and further launches would fail too. From then on one instance is
// launched at a time, until one registers or a maximum has failed.
import { endedWhileStarting } from '../instance/lose.ts';
import { maxNeverRegistered, maxSlotFailures } from '../limits.ts';
import type { Reason } from '../../reason.ts';
import { addEvent } from '../notes.ts';
import { giveUpSlot, vacantSlots } from './slots.ts';
import type { ClusterInstance, ClusterState } from '../state.ts';
import { endReason } from '../instance/transitions.ts';

/** Counts terminated instances that never registered. Instances launched before the first canary are not counted. */
export function noteNeverRegistered(state: ClusterState, failed: ClusterInstance[], reason: Reason): void {
  const { canary } = state;
  if (canary === undefined) {
    state.canary = { fromSeq: state.nextLaunchSeq, failed: 0 };
    const text = 'instances do not register: from now on one is launched at a time, until one does';
    if (vacantSlots(state).length > 1) addEvent(state, reason.atMs, 'CANARY_LAUNCHES', text);
    return;
  }
  canary.failed += failed.filter((instance) => isCanary(state, instance)).length;
  const areEarly = failed.every((instance) => endReason(instance)?.code === endedWhileStarting);
  if (canary.failed < (areEarly ? maxSlotFailures : maxNeverRegistered) - 1) return;
  for (const slot of vacantSlots(state)) giveUpSlot(state, slot, reason);
}

/** Instances can register again, so all missing ones are launched at once. */
export function noteRegistered(state: ClusterState): void {
  delete state.canary;
}

/** Vacant slots that may be filled now; during canary launches at most one, a slot that has failed if there is one. */
export function launchableSlots(state: ClusterState): number[] {
  const vacant = vacantSlots(state);
  const { canary } = state;
  if (canary === undefined || vacant.length === 0) return vacant;
  const isUnderWay =
    state.instances.some((instance) => isCanary(state, instance)) ||
    state.launches.some(({ seq }) => seq >= canary.fromSeq);
  if (isUnderWay) return [];
  const failed = vacant.filter((slot) => {
    const history = state.slots[slot];
    return history?.givenUp === null && history.unregistered > 0;
  });
  return (failed.length > 0 ? failed : vacant).slice(0, 1);
}

const isCanary = ({ canary }: ClusterState, { launchSeq, agent }: ClusterInstance): boolean =>
  canary !== undefined && agent === null && launchSeq >= canary.fromSeq;

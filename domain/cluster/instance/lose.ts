// How a cluster takes the loss of an instance: it is remembered against its slot, and whoever works with it is told.
import { maxNeverRegistered, maxSlotFailures, slotFailureWindowMs } from '../../limits.ts';
import type { Reason } from '../../reason.ts';
import { addEvent } from '../notes.ts';
import { slotHistory } from '../slot/slots.ts';
import type { ClusterInstance, ClusterState, LostInstance } from '../state.ts';

/** How an instance ended: by an order, by its agent's own decision, or for an unknown reason. */
export type Ending = 'ordered' | 'left' | 'unexpected';

/** The instance will do no more work for us; the plan terminates it for certain and fills its slot again. */
export function lose(
  state: ClusterState,
  instance: ClusterInstance,
  reason: Reason,
  ending: Ending = 'unexpected',
): void {
  if (instance.state === 'error' || instance.state === 'stopping') return;
  instance.state = 'error';
  instance.reason = reason;
  instance.suspicion = null;
  // A worker that was being sent away, or that its cloud took back, has not failed, whichever of its ends is heard of first.
  const wasSent = instance.drain !== null || instance.leavesAtMs !== undefined || ending === 'ordered';
  const { code, text } = reason;
  tellLost(state, { instance: instance.id, code, text, isOrderly: wasSent || ending === 'left' });
  addEvent(state, reason.atMs, reason.code, `instance ${instance.id}: ${reason.text}`);
  if (wasSent) endRow(state, instance, reason.atMs);
  if (instance.registeredAtMs !== null && !wasSent) failSlot(state, instance, reason);
}

/**
 * One that has worked for a while shows that its slot is all right, also when it leaves in order. What has failed since it
 * began are its successors, and they count.
 */
export function endRow(state: ClusterState, { slot, registeredAtMs }: ClusterInstance, nowMs: number): void {
  if (registeredAtMs === null) return;
  const history = state.slots[slot];
  if (history === undefined || history.lastFailureMs > registeredAtMs) return;
  if (nowMs - registeredAtMs < slotFailureWindowMs) return;
  history.failures = 0;
  delete history.unregistered;
}

export function tellLost(state: ClusterState, lost: LostInstance): void {
  if (state.settings.job !== null) state.lostToTell.push(lost);
}

/** Too many failures of one slot in short succession, and it is given up instead of costing money for ever. */
export function failSlot(state: ClusterState, { slot, registeredAtMs }: ClusterInstance, reason: Reason): void {
  const history = slotHistory(state, slot);
  // One that has worked for a while shows that the slot is all right, however long ago its predecessor failed.
  const sinceMs = registeredAtMs ?? Number.POSITIVE_INFINITY;
  history.failures = reason.atMs - sinceMs < slotFailureWindowMs ? history.failures + 1 : 1;
  history.lastFailureMs = reason.atMs;
  if (registeredAtMs === null) history.unregistered = (history.unregistered ?? 0) + 1;
  else delete history.unregistered;
  const isHopeless = (history.unregistered ?? 0) >= maxNeverRegistered;
  if (history.failures >= maxSlotFailures || isHopeless) history.givenUp = reason;
  const known = state.failures[reason.code];
  state.failures[reason.code] = { count: (known?.count ?? 0) + 1, text: reason.text, lastAtMs: reason.atMs };
}

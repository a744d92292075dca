// What the loss of an instance changes: it counts as a failure of its slot, and the job of the cluster is notified.
import { maxNeverRegistered, maxProgramErrors, maxSlotFailures, slotFailureWindowMs } from '../limits.ts';
import type { Reason } from '../../reason.ts';
import { addEvent } from '../notes.ts';
import { giveUpSlot, slotHistory } from '../slot/slots.ts';
import type { ClusterInstance, ClusterState, LostInstance } from '../state.ts';
import { becomeEnding, isEnding } from './transitions.ts';

/** Why an instance is lost that ended before its agent registered. */
export const endedWhileStarting = 'ENDED_WHILE_STARTING';

/** How an instance ended: by an order, by its agent's own decision, or for an unknown reason. */
export type Ending = 'ordered' | 'left' | 'unexpected';

/** The instance will do no more work for us; the plan terminates it for certain and fills its slot again. */
export function lose(
  state: ClusterState,
  instance: ClusterInstance,
  reason: Reason,
  ending: Ending = 'unexpected',
): void {
  if (isEnding(instance)) return;
  const { agent } = instance;
  becomeEnding(instance, 'error', reason);
  // A worker that was being sent away, or that its cloud took back, has not failed, whichever of its ends is heard of first.
  const wasSent = Boolean(agent?.drain) || (agent?.terminatesAtMs ?? null) !== null || ending === 'ordered';
  const { code, text } = reason;
  reportLost(state, { instance: instance.id, code, text, isOrderly: wasSent || ending === 'left' });
  addEvent(state, reason.atMs, reason.code, `instance ${instance.id}: ${reason.text}`);
  if (wasSent) resetFailureStreak(state, instance, reason.atMs);
  if (agent !== null && !wasSent) failSlot(state, instance, reason);
}

/**
 * One that has worked for a while shows that its slot is all right, also when it leaves in order. What has failed since it
 * began are its successors, and they count.
 */
export function resetFailureStreak(state: ClusterState, { slot, agent }: ClusterInstance, nowMs: number): void {
  const history = state.slots[slot];
  if (agent === null || history === undefined || history.givenUp !== null) return;
  if (history.lastFailureMs > agent.registeredAtMs || nowMs - agent.registeredAtMs < slotFailureWindowMs) return;
  history.failures = 0;
  history.unregistered = 0;
}

export function reportLost(state: ClusterState, lost: LostInstance): void {
  if (state.settings.job !== null) state.lostToReport.push(lost);
}

/** Too many failures of one slot in short succession, and it is given up instead of costing money forever. */
export function failSlot(state: ClusterState, { slot, agent }: ClusterInstance, reason: Reason): void {
  const known = state.failures[reason.code];
  state.failures[reason.code] = { count: (known?.count ?? 0) + 1, text: reason.text, lastAtMs: reason.atMs };
  const history = slotHistory(state, slot);
  if (history.givenUp !== null) return;
  // One that has worked for a while shows that the slot is all right, however long ago its predecessor failed.
  const sinceMs = agent?.registeredAtMs ?? Number.POSITIVE_INFINITY;
  history.failures = reason.atMs - sinceMs < slotFailureWindowMs ? history.failures + 1 : 1;
  history.lastFailureMs = reason.atMs;
  history.unregistered = agent === null ? history.unregistered + 1 : 0;
  // An early end costs a minute, not the whole timeout, and may be a fault of the cloud that passes.
  const isHopeless = history.unregistered >= maxNeverRegistered && reason.code !== endedWhileStarting;
  const limit = reason.code === 'PROGRAM_ERROR' ? maxProgramErrors : maxSlotFailures;
  if (history.failures >= limit || isHopeless) giveUpSlot(state, slot, reason);
}

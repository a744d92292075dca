// Applies the loss of an instance: it counts as a failure of its slot, and the cluster's job is notified.
import { maxNeverRegistered, maxProgramErrors, maxSlotFailures, slotFailureWindowMs } from '../limits.ts';
import type { Reason } from '../../reason.ts';
import { addEvent } from '../notes.ts';
import { giveUpSlot, slotHistory } from '../slot/slots.ts';
import type { ClusterInstance, ClusterState, LostInstance } from '../state.ts';
import { becomeEnding, isEnding } from './transitions.ts';

/** The reason code of an instance that ended before its agent registered. */
export const endedWhileStarting = 'ENDED_WHILE_STARTING';

/** How an instance ended: by an order, by its agent's own decision, or unexpectedly. */
export type Ending = 'ordered' | 'left' | 'unexpected';

/** Marks the instance as lost; the plan terminates it and fills its slot again. */
export function lose(
  state: ClusterState,
  instance: ClusterInstance,
  reason: Reason,
  ending: Ending = 'unexpected',
): void {
  if (isEnding(instance)) return;
  const { agent } = instance;
  becomeEnding(instance, 'error', reason);
  // A drained or interrupted worker has not failed, whichever report of its end arrives first.
  const wasSent = Boolean(agent?.drain) || (agent?.terminatesAtMs ?? null) !== null || ending === 'ordered';
  const { code, text } = reason;
  reportLost(state, { instance: instance.id, code, text, isOrderly: wasSent || ending === 'left' });
  addEvent(state, reason.atMs, reason.code, `instance ${instance.id}: ${reason.text}`);
  if (wasSent) resetFailureStreak(state, instance, reason.atMs);
  if (agent !== null && !wasSent) failSlot(state, instance, reason);
}

/**
 * Resets the failure streak of a slot whose instance has worked for the failure window, also when it leaves in order. Failures since its registration
 * are those of its successors, and they count.
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

/** Counts a failure of a slot. Too many in short succession give it up, instead of costing money forever. */
export function failSlot(state: ClusterState, { slot, agent }: ClusterInstance, reason: Reason): void {
  const known = state.failures[reason.code];
  state.failures[reason.code] = { count: (known?.count ?? 0) + 1, text: reason.text, lastAtMs: reason.atMs };
  const history = slotHistory(state, slot);
  if (history.givenUp !== null) return;
  // An instance that worked for the failure window restarts the count, regardless of its predecessor's failures.
  const sinceMs = agent?.registeredAtMs ?? Number.POSITIVE_INFINITY;
  history.failures = reason.atMs - sinceMs < slotFailureWindowMs ? history.failures + 1 : 1;
  history.lastFailureMs = reason.atMs;
  history.unregistered = agent === null ? history.unregistered + 1 : 0;
  // An early end costs a minute, not the whole timeout, and may be a transient fault of the cloud.
  const isHopeless = history.unregistered >= maxNeverRegistered && reason.code !== endedWhileStarting;
  const limit = reason.code === 'PROGRAM_ERROR' ? maxProgramErrors : maxSlotFailures;
  if (history.failures >= limit || isHopeless) giveUpSlot(state, slot, reason);
}

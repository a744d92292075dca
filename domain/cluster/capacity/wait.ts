// A wait for capacity: when it began, when the next attempt is due, and when it ends. Called before each plan; it only changes when offers may be
// requested again and which slots are given up.
import { maxCapacityPauseMs, minCapacityPauseMs } from '../limits.ts';
import { formatDuration } from '../../units.ts';
import { availableAgainAtMs, maxSlotsPerLaunch, placeLaunch } from './machines.ts';
import { launchableSlots } from '../slot/canary.ts';
import { addEvent } from '../notes.ts';
import { fillableAtMs, giveUpSlot, vacantSlots } from '../slot/slots.ts';
import type { CapacityWait } from './capacity-wait.ts';
import type { ClusterState } from '../state.ts';
import { groupedFailures, noteReady } from '../status.ts';

/**
 * Begins a wait when there are slots to fill and no available offer. The wait ends when all slots are filled or, with a time limit, at the limit,
 * which gives up the slots. A second call at the same time changes nothing.
 */
export function watchCapacity(state: ClusterState, nowMs: number): void {
  const { machines } = state.settings;
  // A launch under way decides whether capacity is missing.
  if (machines === undefined || state.stopRequested !== null || state.launches.length > 0) return;
  // A slot that pauses after its own failures does not begin a wait.
  const isFillable = (slot: number): boolean => nowMs >= fillableAtMs(state, slot);
  const vacant = launchableSlots(state).filter(isFillable);
  const { waiting } = state;
  if (vacant.length === 0) {
    if (waiting !== null) endWait(state, waiting, nowMs);
    return;
  }
  const deadlineMs = capacityDeadlineMs(state);
  if (waiting !== null && deadlineMs !== null && nowMs >= deadlineMs) {
    giveUpSlots(state, waiting, vacantSlots(state).filter(isFillable), nowMs);
    return;
  }
  const roles = new Set(vacant.slice(0, maxSlotsPerLaunch).map((slot) => (slot === 0 ? 'head' : 'worker')));
  if (placeLaunch(state, machines, roles, nowMs) !== null) return;
  if (waiting === null) {
    const { nextTryMs } = tryAgain(state, { sinceMs: nowMs, tries: 0, nextTryMs: nowMs }, nowMs);
    const text = `${missingText(state)}; asked for again in ${formatDuration(nextTryMs - nowMs)}`;
    addEvent(state, nowMs, 'WAITING_FOR_CAPACITY', text);
  } else if (nowMs >= waiting.nextTryMs) {
    tryAgain(state, waiting, nowMs);
  }
}

/** When a wait ends and the cluster continues with its present instances; null for a wait without a time limit. */
export function capacityDeadlineMs({ settings, waiting }: ClusterState): number | null {
  const waitMs = settings.machines?.waitForCapacityMs;
  return waitMs === undefined || waiting === null ? null : waiting.sinceMs + waitMs;
}

/** Counts the slots that have no instance and are not given up. */
export function missingSlots(state: ClusterState): number {
  const asked = state.launches.flatMap(({ slots }) => slots.filter((slot) => slot < state.target));
  return vacantSlots(state).length + asked.length;
}

export const missingText = (state: ClusterState): string =>
  `${missingSlots(state)} of ${state.target} instances are unavailable now${groupedFailures(state)}`;

/**
 * Without a time limit, each offer is requested again as soon as its exclusion ends. With a time limit, all offers are requested at once, after
 * pauses that grow.
 */
function tryAgain(state: ClusterState, { sinceMs, tries }: CapacityWait, nowMs: number): CapacityWait {
  const pauseMs = pauseOf(state.number, tries);
  const patient = state.settings.machines?.waitForCapacityMs !== undefined;
  const backedOffMs = state.launchBackoff?.untilMs ?? 0;
  const nextTryMs = patient
    ? Math.max(nowMs + pauseMs, backedOffMs)
    : (availableAgainAtMs(state, nowMs) ?? nowMs + pauseMs);
  if (patient) state.unavailable = state.unavailable.map((each) => ({ ...each, untilMs: nextTryMs }));
  const waiting = { sinceMs, tries: tries + 1, nextTryMs };
  state.waiting = waiting;
  return waiting;
}

/** Adds a jitter of a quarter, derived from the cluster's number, so waiting clusters do not retry at the same time. */
function pauseOf(number: number, tries: number): number {
  const pauseMs = Math.min(maxCapacityPauseMs, minCapacityPauseMs * 2 ** Math.min(tries, 20));
  const share = (Math.imul(number + tries * 7_919, 0x9e3779b1) >>> 0) / 2 ** 32;
  return Math.round(pauseMs * (0.75 + share / 2));
}

function endWait(state: ClusterState, { sinceMs }: CapacityWait, nowMs: number): void {
  state.waiting = null;
  state.waitedUntilMs = nowMs;
  addEvent(state, nowMs, 'CAPACITY', `after ${formatDuration(nowMs - sinceMs)} nothing is missing any more`);
}

function giveUpSlots(state: ClusterState, { sinceMs }: CapacityWait, vacant: number[], nowMs: number): void {
  state.waiting = null;
  state.waitedUntilMs = nowMs;
  const waited = formatDuration(nowMs - sinceMs);
  const text = `${vacant.length} of ${state.target} instances were unavailable for ${waited}${groupedFailures(state)}`;
  for (const slot of vacant) giveUpSlot(state, slot, { code: 'NO_CAPACITY', text, atMs: nowMs });
  addEvent(state, nowMs, 'NO_CAPACITY', text);
  noteReady(state, nowMs);
}

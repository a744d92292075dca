// What a cloud cannot give just now: since when it is waited for, when it is asked for again, and when that ends. Called
// before each plan; what it changes is only when offers may be asked for again, and which slots are given up.
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
 * Begins to wait when there are slots to fill and nothing left to ask for, ends with the last of them, or, where a time was
 * given, at its end, with the slots given up. Said twice at one moment it changes nothing more.
 */
export function watchCapacity(state: ClusterState, nowMs: number): void {
  const { machines } = state.settings;
  // A launch that is under way decides whether anything is missing.
  if (machines === undefined || state.stopRequested !== null || state.launches.length > 0) return;
  // A slot that rests after failures of its own is not waited for.
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

/** When a wait ends with what there is then; null for none that has an end of its own. */
export function capacityDeadlineMs({ settings, waiting }: ClusterState): number | null {
  const waitMs = settings.machines?.waitForCapacityMs;
  return waitMs === undefined || waiting === null ? null : waiting.sinceMs + waitMs;
}

/** Slots that have no instance and are not given up. */
export function missingSlots(state: ClusterState): number {
  const asked = state.launches.flatMap(({ slots }) => slots.filter((slot) => slot < state.target));
  return vacantSlots(state).length + asked.length;
}

export const missingText = (state: ClusterState): string =>
  `${missingSlots(state)} of ${state.target} instances are unavailable now${groupedFailures(state)}`;

/**
 * Without a time of its own a wait asks again for each offer as soon as its failure is forgotten. With one it asks for all
 * at once, after pauses that grow: soon at first, and seldom when it takes hours.
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

/** A quarter more or less, by the cluster's number: many clusters that wait for one cloud shall not ask it in step. */
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

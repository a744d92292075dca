// A job releases instances while its last tasks run: those without a lease, once no task has waited for a while. The head instance stays until the
// end. A released instance gets no more work, so no lease is lost with it.
import { shrinkAfterMs } from './limits.ts';
import { mayRun } from './placement.ts';
import { hasEnded } from './rules.ts';
import type { JobState } from './state.ts';

/** Notes since when no task has waited. `requeue` resets this time. */
export function noteQueue(state: JobState, nowMs: number): void {
  if (hasEnded(state)) return;
  if (isQueueEmpty(state)) state.emptySinceMs ??= nowMs;
  else delete state.emptySinceMs;
}

/** When instances can be released; null when none can. */
export function nextShrinkMs(state: JobState): number | null {
  if (hasEnded(state) || state.emptySinceMs === undefined || spare(state).length === 0) return null;
  return state.emptySinceMs + shrinkAfterMs;
}

/** Returns the instances to release now. Each is notified in its next exchange. */
export function releaseSpareInstances(state: JobState, nowMs: number): string[] {
  const dueMs = nextShrinkMs(state);
  if (dueMs === null || nowMs < dueMs) return [];
  const ids = spare(state);
  for (const id of ids) {
    const instance = state.instances[id];
    if (instance !== undefined) instance.isReleased = true;
  }
  // Instances that finish within the next period are released together, not one by one.
  state.emptySinceMs = nowMs;
  return ids;
}

function spare(state: JobState): string[] {
  if (!isQueueEmpty(state)) return [];
  const busy = new Set(state.leases.map((lease) => lease.instance));
  return Object.entries(state.instances).flatMap(([id, { lost, head, isReleased }]) =>
    !lost && !head && isReleased !== true && !busy.has(id) ? [id] : [],
  );
}

function isQueueEmpty(state: JobState): boolean {
  // Tasks of the head instance wait for no other instance.
  return !state.requeued.some((task) => mayRun(state, task, false)) && state.nextFresh >= state.settings.taskCount;
}

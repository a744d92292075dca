// A job gives instances back while its last tasks run: those that hold no lease, once nothing has waited for a while. The
// head instance stays to the end, and whoever has been given back gets no more work, so that no lease goes with it.
import { shrinkAfterMs } from './limits.ts';
import { mayRun } from './placement.ts';
import { isOver } from './rules.ts';
import type { JobState } from './state.ts';

/** Notes since when no task has waited. A task that is put back in line begins that anew, see `requeue`. */
export function noteQueue(state: JobState, nowMs: number): void {
  if (isOver(state)) return;
  if (isQueueEmpty(state)) state.emptySinceMs ??= nowMs;
  else delete state.emptySinceMs;
}

/** When instances can be given back, or null while none can. */
export function nextShrinkMs(state: JobState): number | null {
  if (isOver(state) || state.emptySinceMs === undefined || spare(state).length === 0) return null;
  return state.emptySinceMs + shrinkAfterMs;
}

/** The instances that go now. They are told so themselves when they next ask for work. */
export function releaseSpareInstances(state: JobState, nowMs: number): string[] {
  const dueMs = nextShrinkMs(state);
  if (dueMs === null || nowMs < dueMs) return [];
  const ids = spare(state);
  for (const id of ids) {
    const instance = state.instances[id];
    if (instance !== undefined) instance.isReleased = true;
  }
  // Those that finish next go together, not one by one.
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
  // Tasks of the head instance wait for nobody else.
  return !state.requeued.some((task) => mayRun(state, task, false)) && state.nextFresh >= state.settings.taskCount;
}

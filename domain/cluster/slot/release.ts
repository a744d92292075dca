// Shrinks a job's cluster: the job names instances that hold none of its tasks and will get none.
import { addEvent } from '../notes.ts';
import { hasReleasedSlot, moveToSlot } from './slots.ts';
import type { ClusterState } from '../state.ts';
import { noteReady } from '../status.ts';

/** Moves the instances into the last slots, and reduces the target by them and by vacant slots there. The head instance stays. */
export function releaseInstances(state: ClusterState, ids: string[], nowMs: number): void {
  if (state.stopRequested !== null || state.settings.job === null) return;
  // An interrupted instance ends anyway, and has released its slot.
  const going = state.instances.filter(
    (each) =>
      ids.includes(each.id) &&
      each.slot > 0 &&
      each.slot < state.target &&
      each.state !== 'stopping' &&
      !hasReleasedSlot(each),
  );
  for (const instance of going) {
    while (instance.slot < state.target - 1 && !isFilled(state, state.target - 1)) state.target -= 1;
    moveToSlot(state, instance, state.target - 1);
    state.target -= 1;
  }
  if (going.length === 0) return;
  addEvent(state, nowMs, 'RELEASED', `${going.length} instances go: no task waits for them`);
  noteReady(state, nowMs);
}

function isFilled(state: ClusterState, slot: number): boolean {
  return state.instances.some((each) => each.slot === slot && each.state !== 'stopping' && each.state !== 'error');
}

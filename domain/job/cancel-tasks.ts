// Cancels some tasks of a job, which goes on with the others. A running command ends when its agent next renews its leases: that
// of the task is gone by then, and the agent sends TERM, later KILL.
import { RopewalkError } from '../errors.ts';
import type { Reason } from '../reason.ts';
import { parseArray, type JobArray } from './array.ts';
import { isFresh, skipTaken } from './placement.ts';
import { cancelLease, hasEnded, settle } from './rules.ts';
import type { JobState } from './state.ts';
import { describeStoredArray } from './stored-array.ts';
import { setOf, withIndices } from './task-set.ts';

/**
 * Tasks that have ended keep their end. Those that never ran get no record of their own: a job's state must stay small, and
 * `tasksCancelled` says why they did not run.
 */
export function cancelTasks(state: JobState, indices: readonly number[], reason: Reason): void {
  if (hasEnded(state)) return;
  // A set of a million numbers would take 40 MB.
  const wanted = new Uint8Array(state.settings.taskCount);
  for (const index of indices) wanted[index] = 1;
  const cancelledBefore = state.counters.cancelled;
  for (const lease of state.leases.filter(({ task }) => wanted[task] === 1)) cancelLease(state, lease, reason);
  cancelRequeued(state, wanted);
  cancelFresh(state, wanted);
  if (state.counters.cancelled === cancelledBefore) return;
  state.tasksCancelled = reason;
  settle(state, reason.atMs);
}

function cancelRequeued(state: JobState, wanted: Uint8Array): void {
  const open = state.requeued.filter((task) => wanted[task] !== 1);
  for (const task of state.requeued) {
    if (wanted[task] !== 1) continue;
    delete state.attempts[task];
    delete state.failures[task];
    delete state.losses[task];
  }
  state.counters.cancelled += state.requeued.length - open.length;
  state.requeued = open;
}

function cancelFresh(state: JobState, wanted: Uint8Array): void {
  const fresh: number[] = [];
  for (let index = state.nextFresh; index < wanted.length; index += 1)
    if (wanted[index] === 1 && isFresh(state, index)) fresh.push(index);
  if (fresh.length === 0) return;
  const { taskCount } = state.settings;
  state.skipped = state.skipped === undefined ? setOf(fresh, taskCount) : withIndices(state.skipped, fresh);
  state.counters.cancelled += fresh.length;
  state.nextFresh = skipTaken(state, state.nextFresh);
}

/** The indices of the ids in array syntax. Throws VALIDATION, field `tasks`, for ids that the job does not have. */
export function taskIndices(tasks: string, array: JobArray): number[] {
  const wanted = parseArray(tasks, 'tasks');
  const indices: number[] = [];
  // Ends at the first id that the job does not have, before the others are looked for.
  for (let at = 0; at < wanted.count; at += 1) {
    const id = wanted.idAt(at);
    indices.push(array.indexOf(id) ?? unknownTask(id, array));
  }
  return indices;
}

function unknownTask(id: number, array: JobArray): never {
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'tasks',
    message: `tasks: the job has no task ${id}; it has ${describeStoredArray(array.canonical)}.`,
  });
}

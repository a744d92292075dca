// Cancels some tasks of a job; the job continues with the others. A running command ends when its agent next renews its leases: the task's lease has
// then ended, and the agent sends TERM, later KILL.
import { RopewalkError } from '../errors.ts';
import type { Reason } from '../reason.ts';
import { parseArray, type JobArray } from './array.ts';
import { skipTaken } from './placement.ts';
import { cancelLease, hasEnded, settle } from './rules.ts';
import type { JobState } from './state.ts';
import { describeStoredArray } from './stored-array.ts';
import { setOf, unmark, withIndices } from './task-set.ts';

/**
 * Ended tasks keep their outcome. Tasks that never ran get no record of their own, because a job's state must stay small; `tasksCancelled` holds the
 * reason.
 */
export function cancelTasks(state: JobState, indices: readonly number[], reason: Reason): void {
  // A set of a million numbers would take 40 MB.
  const wanted = new Uint8Array(state.settings.taskCount);
  for (const index of indices) wanted[index] = 1;
  cancelMarked(state, wanted, reason);
}

/** `wanted`: 1 at the indices of the tasks. The function changes it. */
export function cancelMarked(state: JobState, wanted: Uint8Array, reason: Reason): void {
  if (hasEnded(state)) return;
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
  const { taskCount, headTasks } = state.settings;
  // Tasks of the head instance are in `requeued`.
  for (const task of headTasks ?? []) wanted[task] = 0;
  if (state.skipped !== undefined) unmark(state.skipped, wanted);
  const fresh: number[] = [];
  for (let index = state.nextFresh; index < wanted.length; index += 1) if (wanted[index] === 1) fresh.push(index);
  if (fresh.length === 0) return;
  state.skipped = state.skipped === undefined ? setOf(fresh, taskCount) : withIndices(state.skipped, fresh);
  state.counters.cancelled += fresh.length;
  state.nextFresh = skipTaken(state, state.nextFresh);
}

/**
 * Marks the indices of the ids in array syntax with 1. A few characters can name a million ids, and every replay repeats such requests; therefore no
 * single id is looked up for a job with consecutive ids, the usual case. Throws VALIDATION, field `tasks`, for ids that the job does not have.
 */
export function markTasks(tasks: string, array: JobArray): Uint8Array {
  const wanted = parseArray(tasks, 'tasks');
  const marks = new Uint8Array(array.count);
  const isOneRun = array.ranges?.length === 1 && array.ranges[0]?.step === 1;
  if (!isOneRun || wanted.ranges === null) {
    // Ends at the first unknown id, before the others are looked up.
    for (let at = 0; at < wanted.count; at += 1) marks[indexOf(wanted.idAt(at), array)] = 1;
    return marks;
  }
  for (const { first, step, count } of wanted.ranges) {
    const start = indexOf(first, array);
    const end = indexOf(first + (count - 1) * step, array);
    if (step === 1) marks.fill(1, start, end + 1);
    else for (let index = start; index <= end; index += step) marks[index] = 1;
  }
  return marks;
}

const indexOf = (id: number, array: JobArray): number => array.indexOf(id) ?? unknownTask(id, array);

function unknownTask(id: number, array: JobArray): never {
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'tasks',
    message: `tasks: the job has no task ${id}; it has ${describeStoredArray(array.canonical)}.`,
  });
}

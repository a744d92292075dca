// Cancels some tasks of a job, which goes on with the others. A running command ends when its agent next renews its leases: that
// of the task is gone by then, and the agent sends TERM, later KILL.
import { RopewalkError } from '../errors.ts';
import type { Reason } from '../reason.ts';
import { parseArray, type JobArray } from './array.ts';
import { skipTaken } from './placement.ts';
import { cancelLease, hasEnded, settle } from './rules.ts';
import type { JobState } from './state.ts';

/**
 * Tasks that have ended keep their end. Those that never ran get no record of their own: a job's state must stay small, and
 * `tasksCancelled` says why they did not run.
 */
export function cancelTasks(state: JobState, indices: readonly number[], reason: Reason): void {
  if (hasEnded(state)) return;
  const wanted = new Set(indices.filter((index) => state.ended[index] === 0));
  if (wanted.size === 0) return;
  state.tasksCancelled = reason;
  for (const lease of state.leases.filter(({ task }) => wanted.has(task))) cancelLease(state, lease, reason);
  for (const task of wanted) {
    if (state.ended[task] !== 0) continue;
    state.ended[task] = 3;
    state.counters.cancelled += 1;
    delete state.attempts[task];
    delete state.failures[task];
    delete state.losses[task];
  }
  state.requeued = state.requeued.filter((task) => !wanted.has(task));
  state.nextFresh = skipTaken(state, state.nextFresh);
  settle(state, reason.atMs);
}

/** The indices of the ids in array syntax. Throws VALIDATION, field `tasks`, for ids that the job does not have. */
export function taskIndices(tasks: string, array: JobArray): number[] {
  const wanted = parseArray(tasks, 'tasks');
  return Array.from({ length: wanted.count }, (_, at) => {
    const id = wanted.idAt(at);
    return array.indexOf(id) ?? unknownTask(id, array);
  });
}

function unknownTask(id: number, array: JobArray): never {
  const has = array.canonical.length > 200 ? `${array.canonical.slice(0, 200)}...` : array.canonical;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'tasks',
    message: `tasks: the job has no task ${id}; it has ${has}.`,
  });
}

// The tasks of a job that have not ended: some of them as people see them, and the states of all in little room.
import { isFresh } from './placement.ts';
import type { JobState } from './state.ts';

export interface OpenTask {
  index: number;
  state: 'pending' | 'assigned' | 'running';
  attempt: number;
  instance: string | null;
  startedAtMs: number | null;
}

/** Those of these tasks that have not ended, in the given order. */
export function openTasks(state: JobState, indices: readonly number[]): OpenTask[] {
  const leased = new Map(state.leases.map((lease) => [lease.task, lease]));
  const requeued = new Set(state.requeued);
  return indices.flatMap((index): OpenTask[] => {
    const lease = leased.get(index);
    if (lease === undefined && !requeued.has(index) && !isFresh(state, index)) return [];
    return [
      {
        index,
        state: lease === undefined ? 'pending' : lease.startedAtMs === null ? 'assigned' : 'running',
        attempt: lease?.attempt ?? state.attempts[index] ?? 0,
        instance: lease?.instance ?? null,
        startedAtMs: lease?.startedAtMs ?? null,
      },
    ];
  });
}

/** Every open task of a job, by its place in the job's state. */
export interface OpenStates {
  assigned: number[];
  running: number[];
  /** In line for another attempt. */
  requeued: number[];
  /** From here on tasks wait for their first attempt, but for those of the head instance and those that were skipped. */
  nextFresh: number;
  headTasks: number[];
  /** See task-set.ts. */
  skipped: string | null;
}

export function openStates(state: JobState): OpenStates {
  const { leases, requeued, nextFresh, skipped, settings } = state;
  return {
    assigned: leases.filter(({ startedAtMs }) => startedAtMs === null).map(({ task }) => task),
    running: leases.filter(({ startedAtMs }) => startedAtMs !== null).map(({ task }) => task),
    requeued,
    nextFresh,
    headTasks: settings.headTasks ?? [],
    skipped: skipped ?? null,
  };
}

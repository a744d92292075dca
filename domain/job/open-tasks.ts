// The tasks of a job that have not ended: some of them in full, and the states of all in compact form.
import { isFresh } from './placement.ts';
import type { JobState } from './state.ts';

export interface OpenTask {
  index: number;
  state: 'pending' | 'assigned' | 'running';
  attempt: number;
  instance: string | null;
  startedAtMs: number | null;
}

/** Returns those of the given tasks that have not ended, in the given order. */
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

/** Every open task of a job, grouped by its place in the job's state. */
export interface OpenStates {
  assigned: number[];
  running: number[];
  /** Waiting for another attempt. */
  requeued: number[];
  /** From this index on, tasks wait for their first attempt, except those of the head instance and the skipped ones. */
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

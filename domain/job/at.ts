// The state of a job at a past time, from its view and the start and end times of its tasks.
import type { Reason } from '../reason.ts';
import type { JobStatus, TaskState } from './state.ts';

/** The job's own times in its view. */
export interface JobTimes {
  status: JobStatus;
  reason: Reason | null;
  startedAtMs: number | null;
  endedAtMs: number | null;
}

/** Times of a task; of its last attempt when it was retried. */
export interface TaskTimes {
  state: TaskState | 'unknown';
  startedAtMs: number | null;
  endedAtMs: number | null;
}

export interface JobAt {
  status: JobStatus;
  reason: Reason | null;
  /** `pending` includes tasks that an instance held but had not started, and tasks between two attempts. */
  tasks: { total: number; pending: number; running: number; done: number; error: number; cancelled: number };
}

export interface JobFold {
  atMs: number;
  tasks: JobAt['tasks'];
}

export const createJobFold = (atMs: number): JobFold => ({
  ...{ atMs, tasks: { total: 0, pending: 0, running: 0, done: 0, error: 0, cancelled: 0 } },
});

export function applyTask({ atMs, tasks }: JobFold, task: TaskTimes): void {
  tasks.total += 1;
  tasks[stateAt(task, atMs)] += 1;
}

function stateAt({ state, startedAtMs, endedAtMs }: TaskTimes, atMs: number): Exclude<keyof JobAt['tasks'], 'total'> {
  if ((state === 'done' || state === 'error' || state === 'cancelled') && endedAtMs !== null && endedAtMs <= atMs) {
    return state;
  }
  return startedAtMs !== null && startedAtMs <= atMs ? 'running' : 'pending';
}

export function jobAt({ atMs, tasks }: JobFold, { status, reason, startedAtMs, endedAtMs }: JobTimes): JobAt {
  if (endedAtMs !== null && endedAtMs <= atMs) return { status, reason, tasks };
  const known = reason !== null && reason.atMs <= atMs ? reason : null;
  return { status: startedAtMs !== null && startedAtMs <= atMs ? 'running' : 'pending', reason: known, tasks };
}

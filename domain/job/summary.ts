// The visible status of a job, derived from its state alone.
import { taskPageSize } from './limits.ts';
import type { Shown } from '../projection.ts';
import type { Reason } from '../reason.ts';
import type { JobCounters, JobState, JobStatus, TaskRecord } from './state.ts';

export interface JobSummary {
  status: JobStatus;
  reason: Reason | null;
  tasks: {
    total: number;
    pending: number;
    assigned: number;
    running: number;
    done: number;
    error: number;
    cancelled: number;
  };
  counters: JobCounters;
}

export function summarizeJob(state: JobState): JobSummary {
  const { done, error, cancelled } = state.counters;
  const running = state.leases.filter(({ startedAtMs }) => startedAtMs !== null).length;
  const assigned = state.leases.length - running;
  const total = state.settings.taskCount;
  const pending = total - done - error - cancelled - running - assigned;
  return {
    status: state.outcome?.status ?? (pending === total ? 'pending' : 'running'),
    reason: state.outcome?.reason ?? state.cancelRequested,
    tasks: { total, pending, assigned, running, done, error, cancelled },
    counters: { ...state.counters },
  };
}

/** The status and figures in lists; see domain/projection.ts. */
export function shownJob(state: JobState): Shown {
  const { status, tasks } = summarizeJob(state);
  const { running, done, error, cancelled } = tasks;
  return { status, digest: [running, done, error, cancelled].join('/') };
}

/** Records to archive now: a full page, or all remaining ones at the end. */
export function pageDue(state: JobState): TaskRecord[] | null {
  if (state.page.length >= taskPageSize) return state.page.slice(0, taskPageSize);
  return state.outcome !== null && state.page.length > 0 ? [...state.page] : null;
}

/** Drops records from the state once they are in the archive. */
export function pageWritten(state: JobState, count: number): void {
  state.page.splice(0, count);
  state.pagesWritten += 1;
}

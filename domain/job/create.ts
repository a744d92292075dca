// Creates a job's state.
import { createProjection } from '../projection.ts';
import { firstInLine } from './placement.ts';
import type { JobSettings, JobState } from './state.ts';

export function createJobState(
  job: { number: number; workspace: string; submittedAtMs: number },
  settings: JobSettings,
): JobState {
  return {
    v: 1,
    number: job.number,
    workspace: job.workspace,
    settings,
    submittedAtMs: job.submittedAtMs,
    startedAtMs: null,
    endedAtMs: null,
    outcome: null,
    cancelRequested: null,
    ...firstInLine(settings.headTasks),
    nextLease: 1,
    leases: [],
    attempts: {},
    failures: {},
    losses: {},
    instances: {},
    counters: { done: 0, error: 0, cancelled: 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
    page: [],
    pagesWritten: 0,
    projection: createProjection(job.submittedAtMs),
    recentErrors: [],
  };
}

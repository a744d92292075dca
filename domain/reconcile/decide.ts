// What follows from an open row and its workflow. Only "closed" and "not found" are evidence, and only when a workflow was
// missing twice, a grace period apart: everything else keeps the row.
import { isMissing, type WorkflowPresence } from '../presence.ts';

export interface ObservedRecord {
  kind: 'job' | 'cluster';
  /** Null for a Dask cluster: it has no job. */
  job: WorkflowPresence | null;
  cluster: WorkflowPresence;
  missingSinceMs: number | null;
}

export type RowDecision =
  /** Its workflow runs. */
  | { do: 'keep' }
  /** It runs again: forget that it was missing. */
  | { do: 'forget' }
  | { do: 'remember' }
  | { do: 'wait' }
  | { do: 'unknown' }
  /** `release`: nothing else holds the name and quota of this number. `stopCluster`: the job's cluster runs on. */
  | { do: 'finalize'; release: boolean; stopCluster: boolean }
  /** The job's cluster was ended from outside: without it, no task runs any more. */
  | { do: 'cancel job' };

export function decideRow(row: ObservedRecord, graceMs: number, nowMs: number): RowDecision {
  const { missingSinceMs } = row;
  if (row.job === 'unknown' || row.cluster === 'unknown') return { do: 'unknown' };
  const decision = whenMissing(row);
  if (decision === null) return { do: missingSinceMs === null ? 'keep' : 'forget' };
  if (missingSinceMs === null) return { do: 'remember' };
  return nowMs < missingSinceMs + graceMs ? { do: 'wait' } : decision;
}

/** What to do about a row that lacks a workflow for long enough; null when it lacks none. */
function whenMissing({ kind, job, cluster }: ObservedRecord): RowDecision | null {
  const isClusterMissing = isMissing(cluster);
  if (kind === 'cluster') {
    if (!isClusterMissing) return null;
    return job === 'open' ? { do: 'cancel job' } : { do: 'finalize', release: true, stopCluster: false };
  }
  if (job !== null && isMissing(job)) {
    return { do: 'finalize', release: isClusterMissing, stopCluster: !isClusterMissing };
  }
  // "Not found" is no evidence here: a job that has just begun has not started its cluster yet.
  return cluster === 'closed' ? { do: 'cancel job' } : null;
}

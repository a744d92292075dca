// Decides about an open row and its workflow. Only "closed" and "not found" are evidence, and only when the workflow was missing twice, a grace
// period apart; every other case keeps the row.
import { isMissing, type WorkflowPresence } from '../presence.ts';

export interface ObservedRecord {
  kind: 'job' | 'cluster';
  /** Null for a Dask cluster, which has no job. */
  job: WorkflowPresence | null;
  cluster: WorkflowPresence;
  missingSinceMs: number | null;
}

export type RowDecision =
  /** Its workflow runs. */
  | { do: 'keep' }
  /** Its workflow runs again, so its absence is forgotten. */
  | { do: 'forget' }
  | { do: 'remember' }
  | { do: 'wait' }
  | { do: 'unknown' }
  /** `release`: nothing else holds the name and quota of this number. `stopCluster`: the job's cluster still runs. */
  | { do: 'finalize'; release: boolean; stopCluster: boolean }
  /** The job's cluster was ended from outside; without it no task can run. */
  | { do: 'cancel job' };

export function decideRow(row: ObservedRecord, graceMs: number, nowMs: number): RowDecision {
  const { missingSinceMs } = row;
  if (row.job === 'unknown' || row.cluster === 'unknown') return { do: 'unknown' };
  const decision = whenMissing(row);
  if (decision === null) return { do: missingSinceMs === null ? 'keep' : 'forget' };
  if (missingSinceMs === null) return { do: 'remember' };
  return nowMs < missingSinceMs + graceMs ? { do: 'wait' } : decision;
}

/** Decides about a row whose workflow has been missing for long enough; null when none is missing. */
function whenMissing({ kind, job, cluster }: ObservedRecord): RowDecision | null {
  const isClusterMissing = isMissing(cluster);
  if (kind === 'cluster') {
    if (!isClusterMissing) return null;
    return job === 'open' ? { do: 'cancel job' } : { do: 'finalize', release: true, stopCluster: false };
  }
  if (job !== null && isMissing(job)) {
    return { do: 'finalize', release: isClusterMissing, stopCluster: !isClusterMissing };
  }
  // "Not found" is no evidence here: a new job may not have started its cluster yet.
  return cluster === 'closed' ? { do: 'cancel job' } : null;
}

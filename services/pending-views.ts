// What can be said of a job or cluster from its reservation alone: it was admitted, and its workflow has not started yet,
// or it was ended from outside before it could leave a result.
import type { Reason } from '../domain/reason.ts';
import { reservedCluster, reservedDask, reservedJob } from '../domain/workspace/reserved-views.ts';
import type { Holder } from '../domain/workspace/state.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { ClusterView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';

export function pendingJob(
  workspace: string,
  holder: Holder,
  spec: JobSpec | null,
  ended: string | null,
  nowMs: number,
): JobView {
  const { tasks, ...job } = reservedJob(workspace, holder, spec?.settings);
  return {
    ...job,
    status: ended === null ? 'pending' : 'error',
    reason: reasonOf(holder, ended, nowMs),
    tasks: { ...tasks, pending: ended === null ? tasks.total : 0 },
  };
}

export function pendingCluster(
  workspace: string,
  holder: Holder,
  spec: ClusterSpec | null,
  ended: string | null,
  nowMs: number,
): ClusterView {
  return {
    ...reservedCluster(workspace, holder, spec?.settings),
    status: ended === null ? 'pending' : 'error',
    reason: reasonOf(holder, ended, nowMs),
    dask: spec === null ? null : reservedDask(spec),
  };
}

function reasonOf(holder: Holder, ended: string | null, nowMs: number): Reason {
  return ended === null
    ? { code: 'STARTING', text: 'Admitted; it starts in a moment.', atMs: holder.reservedAtMs }
    : { code: 'ENDED_FROM_OUTSIDE', text: `Its workflow ended without a result: ${ended}.`, atMs: nowMs };
}

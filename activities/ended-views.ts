// The final view of a job or cluster whose workflow could not write its own: what it last knew, brought to its end.
import { reservedCluster, reservedDask, reservedJob } from '../domain/workspace/reserved-views.ts';
import type { Holder } from '../domain/workspace/state.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { ClusterView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';

/** Tasks that were open are over with it. */
export function endedJob(last: JobView, text: string, nowMs: number): JobView {
  const { tasks } = last;
  const cancelled = tasks.total - tasks.done - tasks.error;
  return {
    ...last,
    status: 'error',
    reason: { code: 'ENDED_FROM_OUTSIDE', text, atMs: nowMs },
    tasks: { ...tasks, pending: 0, assigned: 0, running: 0, cancelled },
    endedAtMs: nowMs,
  };
}

export function endedCluster(last: ClusterView, text: string, nowMs: number): ClusterView {
  return {
    ...last,
    status: 'error',
    reason: { code: 'ENDED_FROM_OUTSIDE', text, atMs: nowMs },
    terminated: last.launched,
    instances: [],
    events: [...last.events, { atMs: nowMs, code: 'ENDED_FROM_OUTSIDE', text }],
    endedAtMs: nowMs,
  };
}

/** When not even its workflow's history is left: what its reservation and its specification tell. */
export const unseenJob = (workspace: string, holder: Holder, spec: JobSpec | ClusterSpec | null): JobView => ({
  ...reservedJob(workspace, holder, spec?.settings),
  status: 'error',
  reason: null,
});

export const unseenCluster = (workspace: string, holder: Holder, spec: JobSpec | ClusterSpec | null): ClusterView => ({
  ...reservedCluster(workspace, holder, spec?.settings),
  status: 'error',
  reason: null,
  dask: holder.kind === 'job' ? null : reservedDask(spec !== null && 'caRef' in spec ? spec : unknownSpec(holder)),
});

/** Nobody can tell any more whether it was private: then it is. */
const unknownSpec = ({ instances }: Holder) => ({
  settings: { instances, dask: { privateToCreator: true, noClientTimeoutMs: null } },
  caRef: '',
});

// The final view of a job or cluster whose workflow could not write its own: the last one that is known, brought to its end.
import { blankCluster, blankDask, blankJob } from '../contracts/blank-views.ts';
import type { ClusterView, DaskView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import type { Reason } from '../domain/reason.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { StoredRecord } from '../store/store.ts';

/** Open tasks end with it. */
export function endedJob(last: JobView, text: string, nowMs: number): JobView {
  const { tasks } = last;
  const cancelled = tasks.total - tasks.done - tasks.error;
  return {
    ...last,
    status: 'error',
    reason: endedFromOutside(text, nowMs),
    tasks: { ...tasks, pending: 0, assigned: 0, running: 0, cancelled },
    endedAtMs: nowMs,
  };
}

export function endedCluster(last: ClusterView, text: string, nowMs: number): ClusterView {
  const reason = endedFromOutside(text, nowMs);
  return {
    ...last,
    status: 'error',
    reason,
    terminated: last.launched,
    instances: [],
    events: [...last.events, reason],
    endedAtMs: nowMs,
  };
}

const endedFromOutside = (text: string, atMs: number): Reason => ({ code: 'ENDED_FROM_OUTSIDE', text, atMs });

/** A job that never wrote a view: what its row and its specification say. */
export function unseenJob(record: StoredRecord<JobView>, spec: JobSpec | null): JobView {
  const { taskCount = 0, array = '0', provider = '', machines } = spec?.settings ?? {};
  const { number, workspace, name, user, command, instances, privateToCreator } = record;
  return blankJob({
    ...{ number, workspace, name, user, command, instances, privateToCreator, provider, array, taskCount },
    region: machines?.region ?? null,
    ...{ status: 'error', reason: null, submittedAtMs: record.createdAtMs, endedAtMs: null },
  });
}

export function unseenCluster(record: StoredRecord<ClusterView>, spec: JobSpec | ClusterSpec | null): ClusterView {
  const { number, workspace, name, user, job, instances: target, createdAtMs } = record;
  return blankCluster({
    ...{ number, workspace, name, user, job, target, createdAtMs },
    provider: spec?.settings.provider ?? '',
    region: spec?.settings.machines?.region ?? null,
    ...{ status: 'error', reason: null, endedAtMs: null },
    dask: job === null ? unseenDask(record, spec !== null && 'caRef' in spec ? spec : null) : null,
  });
}

const unseenDask = (record: StoredRecord<ClusterView>, spec: ClusterSpec | null): DaskView =>
  blankDask({
    workersWanted: Math.max(0, record.instances - 1),
    privateToCreator: record.privateToCreator,
    noClientTimeoutMs: spec?.settings.dask.noClientTimeoutMs ?? null,
    caRef: spec?.caRef ?? '',
  });

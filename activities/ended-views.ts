// The final view of a job or cluster whose workflow could not write its own: the last one that is known, brought to its end.
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
  const { taskCount: total = 0, array = '0', provider = '', machines } = spec?.settings ?? {};
  const { number, workspace, name, user, command, instances, privateToCreator } = record;
  return {
    ...{ number, workspace, name, user, command, instances, privateToCreator, provider, array },
    region: machines?.region ?? null,
    status: 'error',
    reason: null,
    tasks: { total, pending: 0, assigned: 0, running: 0, done: 0, error: 0, cancelled: 0 },
    counters: { done: 0, error: 0, cancelled: 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
    submittedAtMs: record.createdAtMs,
    startedAtMs: null,
    endedAtMs: null,
    recentErrors: [],
    pagesWritten: 0,
  };
}

export function unseenCluster(record: StoredRecord<ClusterView>, spec: JobSpec | ClusterSpec | null): ClusterView {
  const { number, workspace, name, user, job, instances: target, createdAtMs } = record;
  return {
    ...{ number, workspace, name, user, job, target, createdAtMs },
    provider: spec?.settings.provider ?? '',
    region: spec?.settings.machines?.region ?? null,
    status: 'error',
    reason: null,
    instances: [],
    failures: [],
    events: [],
    readyAtMs: null,
    endedAtMs: null,
    launched: 0,
    terminated: 0,
    waiting: null,
    dask: job === null ? unseenDask(record, spec !== null && 'caRef' in spec ? spec : null) : null,
  };
}

const unseenDask = (record: StoredRecord<ClusterView>, spec: ClusterSpec | null): DaskView => ({
  orders: { version: 0, schedulerAddress: null, drain: [], stop: null },
  report: null,
  reportedAtMs: null,
  idleSinceMs: null,
  unresponsiveSinceMs: null,
  adaptive: null,
  workersWanted: Math.max(0, record.instances - 1),
  workersStarted: 0,
  workersErrored: 0,
  privateToCreator: record.privateToCreator,
  noClientTimeoutMs: spec?.settings.dask.noClientTimeoutMs ?? null,
  caRef: spec?.caRef ?? '',
});

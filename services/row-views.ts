// The view of a job or cluster whose workflow has not written one yet, or never will: from its row, and from its
// specification where that was read.
import type { ClusterView, DaskView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import type { Reason } from '../domain/reason.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { StoredRecord } from '../store/store.ts';

export function pendingJob(record: StoredRecord<JobView>, spec: JobSpec | null): JobView {
  const { command = record.command, taskCount: total = 0, array = '0', provider = '', machines } = spec?.settings ?? {};
  const status = statusOf(record, jobStatuses);
  return {
    number: record.number,
    workspace: record.workspace,
    name: record.name,
    command,
    user: record.user,
    status,
    reason: reasonOf(record),
    tasks: {
      total,
      pending: status === 'pending' ? total : 0,
      assigned: 0,
      running: 0,
      done: 0,
      error: 0,
      cancelled: 0,
    },
    counters: { done: 0, error: 0, cancelled: 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
    array,
    instances: record.instances,
    submittedAtMs: record.createdAtMs,
    startedAtMs: null,
    endedAtMs: record.endedAtMs,
    recentErrors: [],
    pagesWritten: 0,
    privateToCreator: record.privateToCreator,
    provider,
    region: machines?.region ?? null,
  };
}

export function pendingCluster(
  record: StoredRecord<ClusterView>,
  {
    provider = '',
    region = null,
    dask = null,
  }: { provider?: string; region?: string | null; dask?: DaskView | null } = {},
): ClusterView {
  return {
    number: record.number,
    workspace: record.workspace,
    name: record.name,
    job: record.job,
    user: record.user,
    status: statusOf(record, clusterStatuses),
    reason: reasonOf(record),
    target: record.instances,
    provider,
    instances: [],
    failures: [],
    events: [],
    createdAtMs: record.createdAtMs,
    readyAtMs: null,
    endedAtMs: record.endedAtMs,
    launched: 0,
    terminated: 0,
    region,
    waiting: null,
    dask,
  };
}

/** What the specification of a cluster says of its Dask. */
export function pendingDask({ settings, caRef }: ClusterSpec): DaskView {
  const { privateToCreator, noClientTimeoutMs } = settings.dask;
  return {
    orders: { version: 0, schedulerAddress: null, drain: [], stop: null },
    report: null,
    reportedAtMs: null,
    idleSinceMs: null,
    unresponsiveSinceMs: null,
    adaptive: null,
    workersWanted: settings.instances - 1,
    workersStarted: 0,
    workersErrored: 0,
    privateToCreator,
    noClientTimeoutMs,
    caRef,
  };
}

/** The cluster of an open job before its first view, which makes its row. Null for none: an ended job starts no cluster. */
export const clusterOfJob = (job: StoredRecord<JobView> | null): StoredRecord<ClusterView> | null =>
  job === null || job.state === 'ended'
    ? null
    : { ...job, job: job.number, status: 'pending', view: null, viewVersion: 0, viewAtMs: null };

const jobStatuses: readonly JobView['status'][] = ['pending', 'running', 'done', 'error', 'cancelled'];
const clusterStatuses: readonly ClusterView['status'][] = [
  ...(['pending', 'starting', 'scaling', 'ready', 'stopping', 'stopped', 'error'] as const),
];

/** Of its last view, even if that can no longer be read. */
const statusOf = <S extends string>({ status, endedAtMs }: StoredRecord<unknown>, known: readonly S[]) =>
  known.find((each) => each === status) ?? (endedAtMs === null ? 'pending' : 'error');

function reasonOf({ refusal, endedAtMs, createdAtMs }: StoredRecord<unknown>): Reason | null {
  if (refusal !== null) return { ...refusal, atMs: endedAtMs ?? createdAtMs };
  if (endedAtMs !== null) return null;
  return { code: 'STARTING', text: 'Admitted; its workflow starts as soon as Temporal takes it.', atMs: createdAtMs };
}

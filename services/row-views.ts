// The view of a job or cluster whose workflow has not written one yet, or never will: from its row, and from its
// specification where that was read.
import { blankCluster, blankDask, blankJob, queueOf } from '../contracts/blank-views.ts';
import type { ClusterView, DaskView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import type { Reason } from '../domain/reason.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { StoredRecord } from '../store/store.ts';

export function pendingJob(record: StoredRecord<JobView>, spec: JobSpec | null): JobView {
  const { number, workspace, name, user, instances, privateToCreator, endedAtMs } = record;
  const { command = record.command, taskCount = 0, array = '0', provider = '', machines } = spec?.settings ?? {};
  return blankJob({
    ...{ number, workspace, name, user, command, instances, privateToCreator, provider, array, taskCount, endedAtMs },
    region: machines?.region ?? null,
    status: statusOf(record, jobStatuses),
    reason: reasonOf(record),
    submittedAtMs: record.createdAtMs,
    ...queueOf(spec?.settings ?? {}),
  });
}

export function pendingCluster(
  record: StoredRecord<ClusterView>,
  {
    provider = '',
    region = null,
    dask = null,
  }: { provider?: string; region?: string | null; dask?: DaskView | null } = {},
): ClusterView {
  const { number, workspace, name, job, user, instances: target, createdAtMs, endedAtMs } = record;
  return blankCluster({
    ...{ number, workspace, name, job, user, target, provider, region, dask, createdAtMs, endedAtMs },
    status: statusOf(record, clusterStatuses),
    reason: reasonOf(record),
  });
}

/** What the specification of a cluster says of its Dask. */
export function pendingDask({ settings, caRef }: ClusterSpec): DaskView {
  const { privateToCreator, noClientTimeoutMs } = settings.dask;
  return blankDask({ workersWanted: settings.instances - 1, privateToCreator, noClientTimeoutMs, caRef });
}

/** The cluster of an open job before its first view, which makes its row. Null for none: an ended job starts no cluster. */
export const clusterOfJob = (job: StoredRecord<JobView> | null): StoredRecord<ClusterView> | null =>
  job === null || job.state === 'ended'
    ? null
    : { ...job, job: job.number, status: 'pending', view: null, viewVersion: 0, viewAtMs: null };

const jobStatuses: readonly JobView['status'][] = ['waiting', 'pending', 'running', 'done', 'error', 'cancelled'];
const clusterStatuses: readonly ClusterView['status'][] = [
  ...(['pending', 'starting', 'scaling', 'ready', 'stopping', 'stopped', 'error'] as const),
];

/** Of its last view, even if that can no longer be read. */
const statusOf = <S extends string>({ status, endedAtMs }: StoredRecord<unknown>, known: readonly S[]) =>
  known.find((each) => each === status) ?? (endedAtMs === null ? 'pending' : 'error');

const queued = {
  code: 'WAITING_FOR_HOST',
  text: 'Admitted; it starts, in the order of numbers, when this machine has room for it and Temporal takes it.',
};

function reasonOf({ refusal, endedAtMs, createdAtMs, state, hostQueue }: StoredRecord<unknown>): Reason | null {
  if (refusal !== null) return { ...refusal, atMs: endedAtMs ?? createdAtMs };
  if (endedAtMs !== null) return null;
  if (state === 'admitted' && hostQueue !== null) return { ...queued, atMs: createdAtMs };
  return { code: 'STARTING', text: 'Admitted; its workflow starts as soon as Temporal takes it.', atMs: createdAtMs };
}

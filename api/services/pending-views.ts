// What can be said of a job or cluster from its reservation alone: it was admitted, and its workflow has not started yet,
// or it was ended from outside before it could leave a result.
import type { Reason } from '../../domain/reason.ts';
import type { Holder } from '../../domain/workspace/state.ts';
import type { ClusterSpec } from '../../schema/cluster-spec.ts';
import type { JobSpec } from '../../schema/job-spec.ts';
import type { ClusterView, DaskView } from '../../workflows/cluster/messages.ts';
import type { JobView } from '../../workflows/job/messages.ts';

export function pendingJob(
  workspace: string,
  holder: Holder,
  spec: JobSpec | null,
  ended: string | null,
  nowMs: number,
): JobView {
  const total = spec?.settings.taskCount ?? 0;
  return {
    number: holder.number,
    workspace,
    name: holder.name,
    command: spec?.settings.command ?? '',
    status: ended === null ? 'pending' : 'error',
    reason: reasonOf(holder, ended, nowMs),
    user: holder.user,
    tasks: { total, pending: ended === null ? total : 0, assigned: 0, running: 0, done: 0, error: 0, cancelled: 0 },
    counters: { done: 0, error: 0, cancelled: 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
    array: spec?.settings.array ?? '0',
    instances: holder.instances,
    submittedAtMs: holder.reservedAtMs,
    startedAtMs: null,
    endedAtMs: null,
    recentErrors: [],
    pagesWritten: 0,
    privateToCreator: holder.privateToCreator ?? false,
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
    number: holder.number,
    workspace,
    name: holder.name,
    job: holder.kind === 'job' ? holder.number : null,
    user: holder.user,
    status: ended === null ? 'pending' : 'error',
    reason: reasonOf(holder, ended, nowMs),
    target: holder.instances,
    provider: spec?.settings.provider ?? '',
    instances: [],
    failures: [],
    events: [],
    createdAtMs: holder.reservedAtMs,
    readyAtMs: null,
    endedAtMs: null,
    launched: 0,
    terminated: 0,
    dask: spec === null ? null : pendingDask(spec),
  };
}

function pendingDask({ settings, caRef }: ClusterSpec): DaskView {
  return {
    orders: { version: 0, schedulerAddress: null, drain: [], stop: null },
    report: null,
    reportedAtMs: null,
    idleSinceMs: null,
    adaptive: null,
    workersWanted: settings.instances - 1,
    workersStarted: 0,
    workersErrored: 0,
    privateToCreator: settings.dask.privateToCreator,
    noClientTimeoutMs: settings.dask.noClientTimeoutMs,
    caRef,
  };
}

function reasonOf(holder: Holder, ended: string | null, nowMs: number): Reason {
  return ended === null
    ? { code: 'STARTING', text: 'Admitted; it starts in a moment.', atMs: holder.reservedAtMs }
    : { code: 'ENDED_FROM_OUTSIDE', text: `Its workflow ended without a result: ${ended}.`, atMs: nowMs };
}

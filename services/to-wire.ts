// Converts workflow views to responses: times as RFC 3339, without internal fields.
import type { Adaptive } from '../domain/cluster/dask/adaptive-settings.ts';
import type { NumberedEvent } from '../domain/cluster/history.ts';
import type { IdleGpus } from '../domain/gpu-use.ts';
import { maxTimeMs } from '../domain/requests/limits.ts';
import type { Reason } from '../domain/reason.ts';
import type { Cluster } from '../schema/clusters.ts';
import type { Job } from '../schema/jobs.ts';
import type { ClusterView, DaskView, InstanceView, WaitingView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import type { Viewed } from './views.ts';

export function toWireJob({ view, staleSinceMs }: Viewed<JobView>): Job {
  const { stale, repeated, lost, retried } = view.counters;
  return {
    number: view.number,
    workspace: view.workspace,
    name: view.name,
    command: view.command,
    status: view.status,
    reason: wireReason(view.reason),
    user: view.user,
    tasks: { ...view.tasks },
    counters: { stale, repeated, lost, retried },
    array: view.array,
    instances: view.instances,
    submittedAt: time(view.submittedAtMs),
    startedAt: timeOrNull(view.startedAtMs),
    endedAt: timeOrNull(view.endedAtMs),
    recentErrors: wireErrors(view),
    failures: (view.failures ?? []).map(({ lastAtMs, ...failure }) => ({ ...failure, lastAt: time(lastAtMs) })),
    ...(view.retryOf === undefined ? {} : { retryOf: view.retryOf }),
    ...wireQueue(view),
    staleSince: timeOrNull(staleSinceMs),
  };
}

function wireQueue({
  after = [],
  priority,
  schedule,
}: JobView): Pick<Job, 'after' | 'afterOk' | 'priority' | 'schedule'> {
  const ended = after.filter(({ needsSuccess }) => !needsSuccess).map(({ number }) => number);
  const ok = after.filter(({ needsSuccess }) => needsSuccess).map(({ number }) => number);
  return {
    ...(ended.length === 0 ? {} : { after: ended }),
    ...(ok.length === 0 ? {} : { afterOk: ok }),
    ...(priority === undefined ? {} : { priority }),
    ...(schedule === undefined ? {} : { schedule }),
  };
}

const wireErrors = ({ recentErrors }: JobView): Job['recentErrors'] =>
  recentErrors.map(({ task, attempt, text, atMs }) => ({ task, attempt, text, at: time(atMs) }));

export function toWireCluster({ view, staleSinceMs }: Viewed<ClusterView>): Cluster {
  return {
    number: view.number,
    workspace: view.workspace,
    name: view.name,
    job: view.job,
    user: view.user,
    status: view.status,
    reason: wireReason(view.reason),
    target: view.target,
    provider: view.provider,
    region: view.region ?? null,
    instances: view.instances.map(wireInstance),
    failures: view.failures.map(({ code, text, count, lastAtMs }) => ({ code, text, count, lastAt: time(lastAtMs) })),
    events: view.events.map(wireEvent),
    createdAt: time(view.createdAtMs),
    readyAt: timeOrNull(view.readyAtMs),
    endedAt: timeOrNull(view.endedAtMs),
    launched: view.launched,
    terminated: view.terminated,
    waitingForCapacity: wireWaiting(view.waiting ?? null),
    dask: view.dask === null ? null : wireDask(view.dask),
    gpus: wireGpus(view.gpus ?? null),
    staleSince: timeOrNull(staleSinceMs),
  };
}

const wireGpus = (gpus: IdleGpus | null): Cluster['gpus'] =>
  gpus === null ? null : { total: gpus.total, idle: gpus.idle, idleSince: timeOrNull(gpus.sinceMs) };

const wireWaiting = (waiting: WaitingView | null): Cluster['waitingForCapacity'] =>
  waiting === null
    ? null
    : {
        since: time(waiting.sinceMs),
        nextTry: time(waiting.nextTryMs),
        until: timeOrNull(waiting.untilMs),
        missing: waiting.missing,
        text: waiting.text,
      };

export const wireEvent = ({ seq, atMs, code, text, by }: NumberedEvent) => ({
  ...{ seq, at: time(atMs), code, text, by: by ?? null },
});

function wireInstance(view: InstanceView): Cluster['instances'][number] {
  const { id, role, state, slot, generation, address, publicAddress, type, market, process } = view;
  return {
    id,
    role,
    state,
    slot,
    generation,
    address,
    publicAddress,
    type,
    market,
    launchedAt: time(view.launchedAtMs),
    registeredAt: timeOrNull(view.registeredAtMs),
    reason: wireReason(view.reason),
    process: process === null ? null : wireProcess(process),
    stages: (view.stages ?? []).map(({ name, atMs }) => ({ name, at: time(atMs) })),
  };
}

const wireProcess = ({ name, state, stage, address, reason, atMs }: NonNullable<InstanceView['process']>) => ({
  name,
  state,
  stage,
  address,
  reason: wireReason(reason),
  at: time(atMs),
});

function wireDask({ orders, report, idleSinceMs, adaptive, ...view }: DaskView): NonNullable<Cluster['dask']> {
  return {
    schedulerAddress: orders.schedulerAddress,
    workersWanted: view.workersWanted,
    workersStarted: view.workersStarted,
    workersErrored: view.workersErrored,
    tasks: report === null ? null : { ...report.tasks },
    clients: report?.clients ?? null,
    usage: report?.usage ?? null,
    idleSince: timeOrNull(idleSinceMs),
    unresponsiveSince: timeOrNull(view.unresponsiveSinceMs ?? null),
    adaptive: adaptive === null ? null : wireAdaptive(adaptive),
  };
}

const wireAdaptive = ({ minimum, maximum, targetDurationMs, waitCount, intervalMs }: Adaptive) => ({
  minimum,
  maximum,
  targetDurationSeconds: targetDurationMs / 1_000,
  waitCount,
  intervalSeconds: intervalMs / 1_000,
});

/** RFC 3339. A time outside its range becomes the nearest one, because a wrong number in a view must not fail the response. */
export const time = (ms: number): string => new Date(Math.min(Math.max(0, ms || 0), maxTimeMs)).toISOString();
export const timeOrNull = (ms: number | null): string | null => (ms === null ? null : time(ms));

const wireReason = (reason: Reason | null) =>
  reason === null ? null : { code: reason.code, text: reason.text, at: time(reason.atMs) };

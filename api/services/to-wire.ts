// From the views of workflows to what callers get: times as RFC 3339, nothing internal.
import { parseArray } from '../../domain/job/array.ts';
import type { Reason } from '../../domain/reason.ts';
import type { Cluster } from '../../schema/clusters.ts';
import type { Job } from '../../schema/jobs.ts';
import type { ClusterView } from '../../workflows/cluster/messages.ts';
import type { JobView } from '../../workflows/job/messages.ts';
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
    staleSince: timeOrNull(staleSinceMs),
  };
}

/** People know a task by its id in the array, as its log lines do. */
function wireErrors({ array, recentErrors }: JobView): Job['recentErrors'] {
  if (recentErrors.length === 0) return [];
  const tasks = parseArray(array);
  return recentErrors.map(({ task, attempt, text, atMs }) => ({
    task: tasks.idAt(task),
    attempt,
    text,
    at: time(atMs),
  }));
}

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
    instances: view.instances.map((instance) => ({
      id: instance.id,
      role: instance.role,
      state: instance.state,
      slot: instance.slot,
      generation: instance.generation,
      address: instance.address,
      launchedAt: time(instance.launchedAtMs),
      registeredAt: timeOrNull(instance.registeredAtMs),
      reason: wireReason(instance.reason),
    })),
    failures: view.failures.map(({ code, text, count, lastAtMs }) => ({ code, text, count, lastAt: time(lastAtMs) })),
    events: view.events.map(({ atMs, code, text }) => ({ at: time(atMs), code, text })),
    createdAt: time(view.createdAtMs),
    readyAt: timeOrNull(view.readyAtMs),
    endedAt: timeOrNull(view.endedAtMs),
    launched: view.launched,
    terminated: view.terminated,
    staleSince: timeOrNull(staleSinceMs),
  };
}

export const time = (ms: number): string => new Date(ms).toISOString();
export const timeOrNull = (ms: number | null): string | null => (ms === null ? null : time(ms));

const wireReason = (reason: Reason | null) =>
  reason === null ? null : { code: reason.code, text: reason.text, at: time(reason.atMs) };

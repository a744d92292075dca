// The final view of a job or cluster whose workflow could not write its own: what it last knew, brought to its end.
import type { Holder } from '../domain/workspace/state.ts';
import type { ClusterView } from '../workflows/cluster/messages.ts';
import type { JobView } from '../workflows/job/messages.ts';

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

interface SpecOfEnded {
  settings: { provider: string; command?: string; taskCount?: number; array?: string };
}

/** When not even its workflow's history is left: what its reservation and its specification tell. */
export function unseenJob(workspace: string, holder: Holder, spec: SpecOfEnded | null): JobView {
  const { command = '', taskCount: total = 0, array = '0' } = spec?.settings ?? {};
  return {
    number: holder.number,
    workspace,
    name: holder.name,
    command,
    status: 'error',
    reason: null,
    user: holder.user,
    tasks: { total, pending: 0, assigned: 0, running: 0, done: 0, error: 0, cancelled: 0 },
    counters: { done: 0, error: 0, cancelled: 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
    array,
    instances: holder.instances,
    submittedAtMs: holder.reservedAtMs,
    startedAtMs: null,
    endedAtMs: null,
    recentErrors: [],
    pagesWritten: 0,
  };
}

export function unseenCluster(workspace: string, holder: Holder, spec: SpecOfEnded | null): ClusterView {
  return {
    number: holder.number,
    workspace,
    name: holder.name,
    job: holder.kind === 'job' ? holder.number : null,
    user: holder.user,
    status: 'error',
    reason: null,
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
    dask: null,
  };
}

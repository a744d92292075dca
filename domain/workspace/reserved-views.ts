// What a reservation, and the settings it was made for, tell of a job or cluster whose workflow nobody has heard of: that it
// is there, and that nothing of it has run. Its status is the caller's to say.
import type { Holder } from './state.ts';

export interface ReservedSettings {
  provider?: string | undefined;
  command?: string;
  taskCount?: number;
  array?: string;
}

export function reservedJob(workspace: string, holder: Holder, settings: ReservedSettings = {}) {
  const { command = '', taskCount: total = 0, array = '0' } = settings;
  return {
    number: holder.number,
    workspace,
    name: holder.name,
    command,
    user: holder.user,
    tasks: { total, pending: 0, assigned: 0, running: 0, done: 0, error: 0, cancelled: 0 },
    counters: { done: 0, error: 0, cancelled: 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
    array,
    provider: settings.provider ?? '',
    region: null,
    instances: holder.instances,
    submittedAtMs: holder.reservedAtMs,
    startedAtMs: null,
    endedAtMs: null,
    recentErrors: [],
    pagesWritten: 0,
    privateToCreator: holder.privateToCreator ?? false,
  };
}

export function reservedCluster(workspace: string, holder: Holder, settings: ReservedSettings = {}) {
  return {
    number: holder.number,
    workspace,
    name: holder.name,
    job: holder.kind === 'job' ? holder.number : null,
    user: holder.user,
    target: holder.instances,
    provider: settings.provider ?? '',
    instances: [],
    failures: [],
    events: [],
    createdAtMs: holder.reservedAtMs,
    readyAtMs: null,
    endedAtMs: null,
    launched: 0,
    terminated: 0,
    region: null,
    waiting: null,
  };
}

/** What a specification says of the Dask of such a cluster. */
export interface ReservedDaskSpec {
  settings: { instances: number; dask: { privateToCreator: boolean; noClientTimeoutMs: number | null } };
  caRef: string;
}

export function reservedDask({ settings, caRef }: ReservedDaskSpec) {
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

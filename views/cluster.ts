// Creates the view of a cluster from its workflow's state, from its row while there is no state to read, or at the end of a cluster whose workflow
// could not write its own view. API, SDK, CLI and pages only format it.
import type { ClusterInput, ClusterView, DaskView, WaitingView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import { capacityDeadlineMs, missingSlots, missingText } from '../domain/cluster/capacity/wait.ts';
import { clusterGpus } from '../domain/cluster/instance/gpus.ts';
import { stagesOf } from '../domain/cluster/instance/stages.ts';
import { endReason } from '../domain/cluster/instance/transitions.ts';
import { maxHistoryHeld } from '../domain/cluster/limits.ts';
import { ordersOf } from '../domain/cluster/orders.ts';
import { hasReleasedSlot } from '../domain/cluster/slot/slots.ts';
import type { ClusterState } from '../domain/cluster/state.ts';
import { clusterReason, clusterStatus } from '../domain/cluster/status.ts';
import type { IdleGpus } from '../domain/gpu-use.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { StoredRecord } from '../store/store.ts';
import { endedFromOutside, reasonOfRecord, statusOfRecord } from './record.ts';

/** From the state of the cluster's workflow. */
export function viewCluster(state: ClusterState, input: ClusterInput): ClusterView {
  return {
    number: state.number,
    workspace: state.workspace,
    name: state.settings.name,
    job: state.settings.job,
    user: input.user,
    status: clusterStatus(state),
    reason: clusterReason(state),
    target: state.target,
    provider: state.settings.provider,
    instances: state.instances.map((instance) => ({
      id: instance.id,
      role: instance.role,
      state: instance.state,
      slot: instance.slot,
      generation: instance.generation,
      address: instance.agent?.address ?? null,
      publicAddress: instance.agent?.publicAddress ?? null,
      hostname: instance.agent?.hostname ?? null,
      type: instance.offer,
      market: instance.market,
      launchedAtMs: instance.launchedAtMs,
      registeredAtMs: instance.agent?.registeredAtMs ?? null,
      reason: endReason(instance),
      process: instance.agent?.process ?? null,
      stages: stagesOf(instance),
    })),
    failures: Object.entries(state.failures).map(([code, failure]) => ({ code, ...failure })),
    events: state.events,
    createdAtMs: state.createdAtMs,
    readyAtMs: state.readyAtMs,
    endedAtMs: state.endedAtMs,
    launched: state.launched,
    terminated: state.terminated,
    region: state.settings.machines?.region ?? null,
    waiting: viewWaiting(state),
    dask: viewDask(state),
    gpus: viewGpus(state),
    costs: state.costs,
    history: state.history.held,
  };
}

function viewGpus(state: ClusterState): IdleGpus | null {
  const gpus = clusterGpus(state);
  return gpus === null ? null : { total: gpus.total, idle: gpus.idle, sinceMs: gpus.sinceMs };
}

function viewWaiting(state: ClusterState): WaitingView | null {
  const { waiting, stopRequested } = state;
  if (waiting === null || stopRequested !== null) return null;
  const { sinceMs, nextTryMs } = waiting;
  const [missing, text] = [missingSlots(state), missingText(state)];
  return { sinceMs, nextTryMs, untilMs: capacityDeadlineMs(state), missing, text };
}

function viewDask(state: ClusterState): DaskView | null {
  const orders = ordersOf(state);
  const { dask, settings } = state;
  if (dask === null || settings.dask === null || orders === null) return null;
  const workers = state.instances.filter(
    (instance) => instance.role === 'worker' && !instance.agent?.drain && !hasReleasedSlot(instance),
  );
  const started = workers.filter(({ state: is, agent }) => is === 'ready' && agent?.process?.state === 'started');
  // A slot counts once; slots beyond the target, and given-up slots that a worker has moved into, do not count.
  const held = new Set(workers.flatMap(({ state: is, slot }) => (is === 'starting' || is === 'ready' ? [slot] : [])));
  const errored = Object.entries(state.slots).filter(
    ([key, { givenUp }]) => givenUp !== null && Number(key) > 0 && Number(key) < state.target && !held.has(Number(key)),
  );
  return {
    orders,
    report: dask.report,
    reportedAtMs: dask.reportedAtMs,
    idleSinceMs: dask.idleSinceMs,
    ...(dask.idleWarned === true ? { idleWarned: true as const } : {}),
    unresponsiveSinceMs: dask.unresponsive?.sinceMs ?? null,
    adaptive: dask.adaptive,
    workersWanted: state.target - 1,
    workersStarted: started.length,
    workersErrored: errored.length,
    privateToCreator: settings.dask.privateToCreator,
    noClientTimeoutMs: settings.dask.noClientTimeoutMs,
    caRef: settings.dask.caRef,
  };
}

/** Before its workflow has read the specification: only data of the admission. */
export function pendingCluster({ number, workspace, name, user }: ClusterInput, createdAtMs: number): ClusterView {
  return {
    ...nothingHappened,
    ...{ number, workspace, name, user, job: null, target: 0, provider: '', region: null, dask: null },
    ...{ status: 'pending', reason: null, createdAtMs, endedAtMs: null },
  };
}

/** From its row, and its specification where that can be read, for a cluster whose workflow has written no view. */
export function clusterOfRecord(record: StoredRecord<ClusterView>, spec: JobSpec | ClusterSpec | null): ClusterView {
  const { number, workspace, name, job, user, instances: target, createdAtMs, endedAtMs } = record;
  return {
    ...nothingHappened,
    ...{ number, workspace, name, job, user, target, createdAtMs, endedAtMs },
    provider: spec?.settings.provider ?? '',
    region: spec?.settings.machines?.region ?? null,
    status: statusOfRecord(record, statuses),
    reason: reasonOfRecord(record),
    dask: job === null ? daskOfRecord(record, spec !== null && 'caRef' in spec ? spec : null) : null,
  };
}

/** True when a view contains less than the row, because its workflow has not read the specification yet. */
export const isBlankCluster = ({ status, job, dask }: ClusterView): boolean =>
  status === 'pending' && job === null && dask === null;

/** The last view of a cluster whose workflow was ended from outside. */
export function endedCluster(last: ClusterView, text: string, nowMs: number): ClusterView {
  const reason = endedFromOutside(text, nowMs);
  return {
    ...last,
    status: 'error',
    reason,
    terminated: last.launched,
    instances: [],
    events: [...last.events, { seq: lastSeq(last) + maxHistoryHeld + 1, ...reason }],
    endedAtMs: nowMs,
  };
}

/** Its workflow may have made up to `maxHistoryHeld` changes that it could not write; a reader may know their events. */
const lastSeq = ({ events, history }: ClusterView): number =>
  Math.max(0, events.at(-1)?.seq ?? 0, history?.at(-1)?.seq ?? 0);

/** The row of an open job's cluster, until the cluster's first view creates its own. Null for an ended job, which starts no cluster. */
export const clusterRecordOfJob = (job: StoredRecord<JobView> | null): StoredRecord<ClusterView> | null =>
  job === null || job.state === 'ended'
    ? null
    : { ...job, job: job.number, status: 'pending', view: null, viewVersion: 0, viewAtMs: null };

const statuses: readonly ClusterView['status'][] = [
  ...(['waiting', 'pending', 'starting', 'scaling', 'ready', 'stopping', 'stopped', 'error'] as const),
];

const nothingHappened = {
  instances: [],
  failures: [],
  events: [],
  readyAtMs: null,
  launched: 0,
  terminated: 0,
  waiting: null,
} satisfies Partial<ClusterView>;

const daskOfRecord = (record: StoredRecord<ClusterView>, spec: ClusterSpec | null): DaskView => ({
  orders: { version: 0, schedulerAddress: null, drain: [], adaptive: null, stop: null },
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

// The visible status of a cluster, derived from its state alone.
import type { Shown } from '../projection.ts';
import type { Reason } from '../reason.ts';
import { addEvent } from './notes.ts';
import { hasReleasedSlot } from './slot/slots.ts';
import { clusterGpus } from './instance/gpus.ts';
import { stagesText } from './instance/stages.ts';
import type { ClusterInstance, ClusterState } from './state.ts';
import type { ClusterStatus } from './statuses.ts';

/** The cluster's status, derived in order of priority. */
export function clusterStatus(state: ClusterState): ClusterStatus {
  if (state.endedAtMs !== null) return failed(state.stopRequested) ? 'error' : 'stopped';
  if (state.stopRequested !== null) return 'stopping';
  const waits = state.waiting !== null && state.settings.machines?.waitForCapacityMs !== undefined;
  if (state.launched === 0 && state.launches.length === 0 && !waits) return 'pending';
  if (isSettled(state)) return 'ready';
  return state.readyAtMs === null ? 'starting' : 'scaling';
}

/** The reason for the status, or null. */
export const clusterReason = ({ stopRequested, alarm, hold }: ClusterState): Reason | null =>
  stopRequested ?? alarm ?? hold ?? null;

/** The status and figures in lists; see domain/projection.ts. Running keys of Dask change constantly and are read live. */
export function shownCluster(state: ClusterState): Shown {
  const { target, launched, terminated, waiting, stopRequested, alarm, dask } = state;
  const counts: Record<string, number> = {};
  for (const { state: is, agent } of state.instances) {
    const key = `${is} ${agent?.drain ? 'draining' : (agent?.process?.state ?? '')}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  const instances = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const givenUp = Object.values(state.slots).filter((slot) => slot.givenUp !== null).length;
  const reasons = [stopRequested?.code, alarm?.code, waiting?.sinceMs, state.hold?.code];
  const shown = dask && [dask.schedulerAddress, dask.adaptive, dask.idleSinceMs === null, Boolean(dask.unresponsive)];
  return {
    status: clusterStatus(state),
    digest: JSON.stringify([target, launched, terminated, givenUp, reasons, instances, shown, ...ofMoney(state)]),
  };
}

/** Paid but unused resources: the view that contains them causes the notification. And new prices, which the ledger gets with the view. */
const ofMoney = (state: ClusterState): string[] => [
  ...((state.pricesAsked?.changes ?? 0) > 0 ? [`prices ${state.pricesAsked?.changes}`] : []),
  ...((clusterGpus(state)?.idle ?? 0) > 0 ? ['idle GPUs'] : []),
  ...(state.dask?.idleWarned === true ? ['idle for long'] : []),
];

/** True when every slot below the target has a ready instance or was given up. Slots beyond the target, from before a scale-down, do not count. */
export function isSettled(state: ClusterState): boolean {
  const ready = new Set(state.instances.flatMap((instance) => (isReady(state, instance) ? [instance.slot] : [])));
  for (let slot = 0; slot < state.target; slot += 1) {
    if (!ready.has(slot) && !state.slots[slot]?.givenUp) return false;
  }
  return true;
}

/** True when a cluster that needs all its instances gave one up before it was ready. */
export function isIncomplete({ settings, readyAtMs, slots, target }: ClusterState): boolean {
  if (settings.allOrNothing !== true || readyAtMs !== null) return false;
  return Object.entries(slots).some(([slot, { givenUp }]) => Number(slot) < target && givenUp !== null);
}

/** For Dask, the instance's scheduler or worker must also have started and not be leaving. */
function isReady(state: ClusterState, instance: ClusterInstance): boolean {
  if (instance.state !== 'ready' || instance.agent.drain !== null || hasReleasedSlot(instance)) return false;
  return state.dask === null || instance.agent.process?.state === 'started';
}

/** Notes when the cluster was first ready, and that a Dask cluster has had its first worker, if it has workers. */
export function noteReady(state: ClusterState, nowMs: number): void {
  const ready = state.instances.filter((instance) => isReady(state, instance));
  const hasAll = ready.some((instance) => instance.role === 'worker') || (state.target === 1 && ready.length > 0);
  if (state.dask !== null) state.dask.startedOnce ||= hasAll;
  if (state.readyAtMs !== null || !isSettled(state) || isIncomplete(state)) return;
  state.readyAtMs = nowMs;
  addEvent(state, nowMs, 'READY', `${ready.length} of ${state.target} instances are ready${stagesText(ready)}`);
}

/** Describes the failures of its instances so far, most frequent first, for the end of a sentence. */
export function groupedFailures(state: ClusterState): string {
  const groups = Object.entries(state.failures)
    .toSorted(([, a], [, b]) => b.count - a.count)
    .slice(0, maxGroupsShown)
    .map(([code, { count, text }]) => `${count} x ${code}: ${text}`);
  return groups.length === 0 ? '' : `; ${groups.join('; ')}`;
}

/** Each group contains a sentence from the cloud. */
const maxGroupsShown = 5;

const failures = new Set([
  'NO_INSTANCES',
  'NOT_ALL_INSTANCES',
  'START_FAILED',
  'SCHEDULER_LOST',
  'SCHEDULER_UNRESPONSIVE',
]);

function failed(reason: Reason | null): boolean {
  return reason !== null && failures.has(reason.code);
}

/** The head instance's address, once it has registered. */
export function headAddress(state: ClusterState): string | null {
  const head = state.instances.find((instance) => instance.slot === 0 && instance.state === 'ready');
  return head?.agent?.address ?? null;
}

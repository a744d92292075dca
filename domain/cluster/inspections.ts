// Instances of a job that nobody has heard of. Leases tell of a loss only where there is one, and a cloud does not say by
// itself that an instance has ended: so it is asked, soon after an instance has registered and then about the quiet ones.
import { firstInspectionMs, laterInspectionMs, maxMissing, quietMs, youngInspectionMs } from '../limits.ts';
import type { ClusterInstance, ClusterSettings, ClusterState } from './state.ts';

/** Instances of a Dask cluster have a scheduler that misses them, and sooner. */
export const areQuietInspected = ({ job }: ClusterSettings): boolean => job !== null;

/** Time has come to ask whether it is still there. */
export function isInspectionDue(state: ClusterState, instance: ClusterInstance, nowMs: number): boolean {
  const atMs = inspectionAtMs(state, instance);
  return atMs !== null && nowMs >= atMs;
}

export function noteInspected(instance: ClusterInstance, nowMs: number): void {
  instance.inspected = { lastMs: nowMs, underWay: true, missing: instance.inspected?.missing ?? 0 };
}

/**
 * Whether its cloud has forgotten it, quiet as it is; null when nobody had asked because of that. What is merely not shown
 * once, or while our own link is down, is not missing.
 */
export function answerInspected(
  { inspected }: ClusterInstance,
  seen: 'alive' | 'gone' | 'unknown',
  linkWorks: boolean,
  nowMs: number,
): boolean | null {
  if (inspected?.underWay !== true) return null;
  inspected.underWay = false;
  // An answer that was long in coming is no reason to ask again at once.
  inspected.lastMs = nowMs;
  if (seen !== 'unknown') inspected.missing = 0;
  else if (linkWorks) inspected.missing += 1;
  return inspected.missing >= maxMissing;
}

/** Moments at which time alone makes one due. */
export function inspectionWakes(state: ClusterState): number[] {
  return state.instances.map((instance) => inspectionAtMs(state, instance)).filter((time) => time !== null);
}

/**
 * On a grid that becomes coarser, so that one question serves all that are due by then: a thousand instances are no more
 * questions than one. Agents that say now and then that they live are never due after the first.
 */
function inspectionAtMs(state: ClusterState, instance: ClusterInstance): number | null {
  const { inspected, registeredAtMs, heardAtMs } = instance;
  if (state.oldInspections === true || !areQuietInspected(state.settings)) return null;
  if (instance.state !== 'ready' || registeredAtMs === null || inspected?.underWay === true) return null;
  if (inspected === undefined) return next(state, registeredAtMs + firstInspectionMs, firstInspectionMs);
  const quietAtMs = Math.max(inspected.lastMs, heardAtMs) + quietMs;
  const isYoung = quietAtMs < registeredAtMs + laterInspectionMs;
  return next(state, quietAtMs, isYoung ? youngInspectionMs : laterInspectionMs);
}

/** Counted from the cluster's own beginning: not all clusters of a cloud ask at the same moment. */
const next = ({ createdAtMs }: ClusterState, atMs: number, everyMs: number): number =>
  createdAtMs + Math.ceil((atMs - createdAtMs) / everyMs) * everyMs;

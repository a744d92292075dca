// Instances of a job that nobody has heard of. Leases tell of a loss only where there is one, and a cloud does not say by
// itself that an instance has ended: so it is asked, soon after an instance has registered and then about the quiet ones. One
// that is there each time and says nothing has hung: it costs as much as one that works.
import { firstInspectionMs, laterInspectionMs, maxMissing, quietMs, youngInspectionMs } from '../limits.ts';
import { plural } from '../units.ts';
import { countedWakes, type Wake } from '../wake.ts';
import type { ClusterInstance, ClusterSettings, ClusterState } from './state.ts';

/** Instances of a Dask cluster have a scheduler that misses them, and sooner. */
const areQuietInspected = ({ job }: ClusterSettings): boolean => job !== null;

/** Time has come to ask whether it is still there. */
export function isInspectionDue(state: ClusterState, instance: ClusterInstance, nowMs: number): boolean {
  const atMs = inspectionAtMs(state, instance);
  return atMs !== null && nowMs >= atMs;
}

export function noteInspected(instance: ClusterInstance, nowMs: number): void {
  instance.inspected = { missing: 0, ...instance.inspected, lastMs: nowMs, underWay: true };
}

export interface InspectionNews {
  /** `gone` is said only by the place that would know; an instance that is merely missing is `unknown`. */
  seen: {
    id: string;
    state: 'alive' | 'gone' | 'unknown';
    /** Gone because somebody terminated it, or its cloud took it back. */
    wasOrdered?: boolean;
  }[];
  /** Our own API answered while we looked: silence is then the instance's. */
  linkWorks: boolean;
}

interface Look {
  seen: 'alive' | 'gone' | 'unknown';
  linkWorks: boolean;
}

/**
 * Whether its cloud has forgotten it, quiet as it is; null when nobody had asked because of that. What is merely not shown
 * once, or while our own link is down, is not missing.
 */
export function answerInspected(instance: ClusterInstance, look: Look, nowMs: number): boolean | null {
  const { inspected } = instance;
  if (inspected === undefined) return null;
  if (look.seen !== 'unknown') inspected.missing = 0;
  if (!inspected.underWay) return null;
  if (isSilent(instance, look)) inspected.silent = (inspected.silent ?? 0) + 1;
  inspected.underWay = false;
  // An answer that was long in coming is no reason to ask again at once.
  inspected.lastMs = nowMs;
  if (look.seen === 'unknown' && look.linkWorks) inspected.missing += 1;
  return inspected.missing >= maxMissing;
}

/** It is there, and had not spoken for long when it was asked about. */
function isSilent({ inspected, heardAtMs }: ClusterInstance, look: Look): boolean {
  if (inspected?.underWay !== true || look.seen !== 'alive' || !look.linkWorks) return false;
  return heardAtMs + quietMs <= inspected.lastMs;
}

/** An instance has spoken: whatever was thought of it begins anew. */
export function noteHeard({ inspected }: ClusterInstance): void {
  if (inspected === undefined) return;
  inspected.missing = 0;
  delete inspected.silent;
}

/** Moments at which time alone makes one due. */
export function inspectionWakes(state: ClusterState): Wake[] {
  const times = state.instances.map((instance) => inspectionAtMs(state, instance)).filter((time) => time !== null);
  return countedWakes(times, (count) => `inspection of ${plural(count, 'quiet instance')} at`);
}

/**
 * On a grid that becomes coarser, so that one question serves all that are due by then: a thousand instances are no more
 * questions than one. Agents that say now and then that they live are never due after the first.
 */
function inspectionAtMs(state: ClusterState, instance: ClusterInstance): number | null {
  const { inspected, registeredAtMs, heardAtMs } = instance;
  if (!areQuietInspected(state.settings)) return null;
  if (instance.state !== 'ready' || registeredAtMs === null || inspected?.underWay === true) return null;
  if (inspected === undefined) return next(state, registeredAtMs + firstInspectionMs, firstInspectionMs);
  const quietAtMs = Math.max(inspected.lastMs, heardAtMs) + quietMs;
  const isYoung = quietAtMs < registeredAtMs + laterInspectionMs;
  return next(state, quietAtMs, isYoung ? youngInspectionMs : laterInspectionMs);
}

/** Counted from the cluster's own beginning: not all clusters of a cloud ask at the same moment. */
const next = ({ createdAtMs }: ClusterState, atMs: number, everyMs: number): number =>
  createdAtMs + Math.ceil((atMs - createdAtMs) / everyMs) * everyMs;

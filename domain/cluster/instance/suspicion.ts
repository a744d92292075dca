// Doubt about an instance: the API, its job or its scheduler has not heard from it. The cluster workflow then asks its provider
// about it, and the API when it was last heard. A cluster looks by itself only every few hours: agents that fall silent are
// found by the API (domain/liveness/), so that an idle cluster costs no events.
import { maxMissing, ownCheckEveryMs, silentAfterMs } from '../../limits.ts';
import { plural } from '../../units.ts';
import { countedWakes, type Wake } from '../../wake.ts';
import type { ClusterInstance, ClusterSettings, ClusterState } from '../state.ts';

/** When an agent of a cluster was last heard by the API. */
export interface Heard {
  instance: string;
  heardAtMs: number;
  /** Since when it has been heard without a gap. */
  sinceMs: number;
}

export interface InspectionNews {
  /** `gone` is said only by the place that would know; an instance that is merely missing is `unknown`. */
  seen: {
    id: string;
    state: 'alive' | 'gone' | 'unknown';
    /** Gone because somebody terminated it, or its cloud took it back. */
    wasOrdered?: boolean;
  }[];
  /** Our own API answered during the inspection: silence is then the instance's. */
  linkWorks: boolean;
  /** What the API knows; empty when it was not asked. */
  heard?: Heard[] | undefined;
}

/** An agent is suspected after this silence, and while suspected inspected this often. */
export const silentAfter = ({ dask }: ClusterSettings): number =>
  dask === null ? silentAfterMs : 3 * dask.aliveEveryMs;

/** `heardAtMs`: the last sign of life that the caller knows. The same silence is not counted as a new one. */
export function suspect(instance: ClusterInstance, heardAtMs: number, nowMs: number): void {
  const known = instance.suspicion;
  if (known !== null && heardAtMs <= known.sinceMs) known.look = 'wanted';
  else instance.suspicion = { ...newSuspicion(heardAtMs, nowMs), look: 'wanted' };
}

export function isInspectionDue(state: ClusterState, instance: ClusterInstance, nowMs: number): boolean {
  const atMs = inspectionAtMs(state, instance);
  return atMs !== null && nowMs >= atMs;
}

/** An inspection begins. */
export function noteInspected({ settings }: ClusterState, instance: ClusterInstance, nowMs: number): void {
  const known = instance.suspicion ?? newSuspicion(instance.heardAtMs, nowMs - silentAfter(settings));
  instance.suspicion = { ...known, look: 'under way', lookedAtMs: nowMs };
}

/**
 * Takes one answer of an inspection. Returns why the instance is lost, or null. Counts a silence only while our own link works,
 * and once for each inspection.
 */
export function answerInspection(
  instance: ClusterInstance,
  seen: InspectionNews['seen'][number]['state'],
  { linkWorks, heard = [] }: Omit<InspectionNews, 'seen'>,
): 'gone' | 'forgotten' | null {
  const { suspicion } = instance;
  if (suspicion === null) return null;
  const isRepeat = suspicion.look === 'done';
  suspicion.look = 'done';
  if (seen === 'gone') return 'gone';
  noteHeard(instance, heard.find((each) => each.instance === instance.id)?.heardAtMs ?? 0);
  if (instance.suspicion === null) return null;
  if (seen === 'alive') suspicion.missing = 0;
  if (!linkWorks || isRepeat) return null;
  suspicion.silent += 1;
  if (seen === 'unknown') suspicion.missing += 1;
  return suspicion.missing >= maxMissing ? 'forgotten' : null;
}

/** Ends the suspicion of an instance that has spoken since it began. */
function noteHeard(instance: ClusterInstance, heardAtMs: number): void {
  const { suspicion } = instance;
  instance.heardAtMs = Math.max(instance.heardAtMs, heardAtMs);
  if (suspicion === null) return;
  if (Math.max(heardAtMs, suspicion.sinceMs) > suspicion.raisedAtMs) instance.suspicion = null;
  else if (heardAtMs > suspicion.sinceMs) Object.assign(suspicion, { sinceMs: heardAtMs, silent: 0, missing: 0 });
}

/** Inspections in a row that found it existing and silent. */
export const silentInspections = ({ suspicion }: ClusterInstance): number => suspicion?.silent ?? 0;

/** Moments at which time alone makes an inspection due. */
export function inspectionWakes(state: ClusterState): Wake[] {
  const times = state.instances.map((instance) => inspectionAtMs(state, instance)).filter((time) => time !== null);
  return countedWakes(times, (count) => `liveness check of ${plural(count, 'instance')} at`);
}

function inspectionAtMs(state: ClusterState, instance: ClusterInstance): number | null {
  const { suspicion, registeredAtMs, heardAtMs } = instance;
  if (instance.state === 'stopping' || instance.state === 'error') return null;
  if (suspicion?.look === 'wanted') return 0;
  if (instance.state !== 'ready' || registeredAtMs === null || suspicion?.look === 'under way') return null;
  if (suspicion !== null) return suspicion.lookedAtMs + silentAfter(state.settings);
  return nextOwnCheckMs(state, heardAtMs);
}

/** On a grid of the cluster's own, so that one inspection serves all instances, and clusters do not ask in step. */
const nextOwnCheckMs = ({ createdAtMs }: ClusterState, heardAtMs: number): number =>
  createdAtMs + Math.floor((heardAtMs - createdAtMs) / ownCheckEveryMs + 2) * ownCheckEveryMs;

const newSuspicion = (sinceMs: number, raisedAtMs: number) => ({
  ...{ sinceMs, raisedAtMs, silent: 0, missing: 0, lookedAtMs: 0 },
  look: 'done' as const,
});

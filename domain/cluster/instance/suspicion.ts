// Suspected instances: the API, the job or the scheduler has not heard from them. The cluster workflow then asks its provider
// about it, and the API when it was last heard. A cluster inspects by itself only every few hours: agents that fall silent are
// found by the API (domain/liveness/), so that an idle cluster costs no events.
import { firstOwnCheckAfterMs, firstOwnCheckGridMs, maxMissing, ownCheckEveryMs } from '../limits.ts';
import { silentAfterMs } from '../../liveness/limits.ts';
import { isSilenceKnown } from '../../liveness/replicas.ts';
import { plural } from '../../units.ts';
import { countedWakes, type Wake } from '../../wake.ts';
import type { ClusterInstance, ClusterSettings, ClusterState, DaskSettings, ReadyInstance } from '../state.ts';

/** When an agent of a cluster was last heard by the API. */
export interface Heard {
  instance: string;
  heardAtMs: number;
  /** Since when it has been heard without a gap. */
  sinceMs: number;
}

/** What the API knows of some agents. */
export interface HeardReport {
  /** Without those that it never heard. */
  heard: Heard[];
  /** For how long it has been hearing agents and writing what it heard, without a gap; 0 while it cannot. */
  listeningMs: number;
}

/** What the provider says of instances. */
export interface ProviderSightings {
  /** `gone` is said only by the place that would know; an instance that is merely missing is `unknown`. */
  seen: {
    id: string;
    state: 'alive' | 'gone' | 'unknown';
    /** Terminated from outside, or interrupted by its cloud. */
    wasOrdered?: boolean;
    /** Why it ended, in the provider's words; absent where it knows no reason. */
    why?: string;
  }[];
  /** Our own API answered during the inspection. */
  linkWorks: boolean;
}

/** An agent is suspected after this silence, and while suspected inspected this often. */
export const silentAfter = ({ dask }: { dask: Pick<DaskSettings, 'aliveEveryMs'> | null }): number =>
  dask === null ? silentAfterMs : 3 * dask.aliveEveryMs;

/** `heardAtMs`: the last sign of life that the caller knows. The same silence is not counted as a new one. */
export function suspect(instance: ReadyInstance, heardAtMs: number, nowMs: number): void {
  const known = instance.suspicion;
  if (known !== null && heardAtMs <= known.sinceMs) known.inspection = 'wanted';
  else instance.suspicion = { ...newSuspicion(heardAtMs, nowMs), inspection: 'wanted' };
}

export function isInspectionDue(
  state: ClusterState,
  instance: ClusterInstance,
  nowMs: number,
): instance is ReadyInstance {
  const atMs = inspectionAtMs(state, instance);
  return atMs !== null && nowMs >= atMs;
}

/** An inspection begins. */
export function noteInspected({ settings }: ClusterState, instance: ReadyInstance, nowMs: number): void {
  const known = instance.suspicion ?? newSuspicion(instance.heardAtMs, nowMs - silentAfter(settings));
  instance.suspicion = { ...known, inspection: 'running', inspectedAtMs: nowMs };
}

/** Silence is the instance's only when the API could have heard it, and had its say. */
export const countsSilence = (settings: ClusterSettings, { linkWorks, listeningMs }: Inspection): boolean =>
  linkWorks && isSilenceKnown(silentAfter(settings), listeningMs);

export type Inspection = ProviderSightings & HeardReport;

/** Takes one answer of an inspection. Returns why the instance is lost, or null. Counts a silence once for each inspection. */
export function answerInspection(
  instance: ReadyInstance,
  seen: ProviderSightings['seen'][number]['state'],
  { heard, isSilenceCounted }: { heard: readonly Heard[]; isSilenceCounted: boolean },
): 'gone' | 'forgotten' | null {
  const { suspicion } = instance;
  if (suspicion === null) return null;
  const isRepeat = suspicion.inspection === 'done';
  suspicion.inspection = 'done';
  if (seen === 'gone') return 'gone';
  noteHeard(instance, heard.find((each) => each.instance === instance.id)?.heardAtMs ?? 0);
  if (instance.suspicion === null) return null;
  if (seen === 'alive') suspicion.missing = 0;
  if (!isSilenceCounted || isRepeat) return null;
  suspicion.silent += 1;
  if (seen === 'unknown') suspicion.missing += 1;
  return suspicion.missing >= maxMissing ? 'forgotten' : null;
}

/** Ends the suspicion of an instance that has spoken since it began. */
function noteHeard(instance: ReadyInstance, heardAtMs: number): void {
  const { suspicion } = instance;
  instance.heardAtMs = Math.max(instance.heardAtMs, heardAtMs);
  if (suspicion === null) return;
  if (Math.max(heardAtMs, suspicion.sinceMs) > suspicion.raisedAtMs) instance.suspicion = null;
  else if (heardAtMs > suspicion.sinceMs) Object.assign(suspicion, { sinceMs: heardAtMs, silent: 0, missing: 0 });
}

/** Inspections in a row that found it existing and silent. */
export const silentInspections = (instance: ClusterInstance): number =>
  instance.state === 'ready' ? (instance.suspicion?.silent ?? 0) : 0;

/** Moments at which time alone makes an inspection due. */
export function inspectionWakes(state: ClusterState): Wake[] {
  const times = state.instances.map((instance) => inspectionAtMs(state, instance)).filter((time) => time !== null);
  return countedWakes(times, (count) => `liveness check of ${plural(count, 'instance')} at`);
}

function inspectionAtMs(state: ClusterState, instance: ClusterInstance): number | null {
  if (instance.state !== 'ready') return null;
  const { suspicion, agent } = instance;
  if (suspicion?.inspection === 'wanted') return 0;
  if (suspicion?.inspection === 'running') return null;
  if (suspicion !== null) return suspicion.inspectedAtMs + silentAfter(state.settings);
  return nextOwnCheckMs(state, instance.heardAtMs, agent.registeredAtMs);
}

/**
 * On grids of the cluster's own, so that one inspection serves all instances, and clusters do not ask in step. The first check
 * comes soon after the registration: an instance whose row the API never wrote is not suspected otherwise.
 */
function nextOwnCheckMs({ createdAtMs, settings }: ClusterState, heardAtMs: number, registeredAtMs: number): number {
  const sinceMs = registeredAtMs + firstOwnCheckAfterMs - createdAtMs;
  const firstMs = createdAtMs + Math.ceil(sinceMs / firstOwnCheckGridMs) * firstOwnCheckGridMs;
  if (heardAtMs <= firstMs - silentAfter(settings)) return firstMs;
  return createdAtMs + Math.floor((heardAtMs - createdAtMs) / ownCheckEveryMs + 2) * ownCheckEveryMs;
}

const newSuspicion = (sinceMs: number, raisedAtMs: number) => ({
  ...{ sinceMs, raisedAtMs, silent: 0, missing: 0, inspectedAtMs: 0 },
  inspection: 'done' as const,
});

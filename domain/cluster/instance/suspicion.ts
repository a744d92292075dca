// Suspected instances: the API, the job or the scheduler has not heard from them. The cluster workflow then asks the provider for their state and the
// API when it last heard them. A cluster inspects on its own schedule only every few hours: the API finds silent agents (domain/liveness/), so an
// idle cluster costs no events.
import { firstOwnCheckAfterMs, firstOwnCheckGridMs, maxMissing, ownCheckEveryMs } from '../limits.ts';
import { silentAfterMs } from '../../liveness/limits.ts';
import { isSilenceKnown } from '../../liveness/replicas.ts';
import { plural } from '../../units.ts';
import { countedWakes, type Wake } from '../../wake.ts';
import type { ClusterInstance, ClusterSettings, ClusterState, DaskSettings, ReadyInstance } from '../state.ts';

/** When the API last heard an agent of a cluster. */
export interface Heard {
  instance: string;
  heardAtMs: number;
  /** Since when the API has heard it without a gap. */
  sinceMs: number;
}

/** The API's knowledge of some agents. */
export interface HeardReport {
  /** Without the agents that the API never heard. */
  heard: Heard[];
  /** How long the API has heard agents and stored it without a gap; 0 while it cannot. */
  listeningMs: number;
}

/** The provider's description of instances. */
export interface ProviderSightings {
  /** `gone` is reported only by the place that can know it; an instance that is merely missing is `unknown`. */
  seen: {
    id: string;
    state: 'alive' | 'gone' | 'unknown';
    /** Terminated from outside, or interrupted by its cloud. */
    wasOrdered?: boolean;
    /** The provider's reason for the end; absent where it knows none. */
    why?: string;
  }[];
  /** Our own API answered during the inspection. */
  linkWorks: boolean;
}

/** The silence after which an agent is suspected; also the interval of inspections while it is suspected. */
export const silentAfter = ({ dask }: { dask: Pick<DaskSettings, 'aliveEveryMs'> | null }): number =>
  dask === null ? silentAfterMs : 3 * dask.aliveEveryMs;

/** `heardAtMs`: when the caller last heard the instance. The same silence does not count as a new one. */
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

/** Notes that an inspection begins. */
export function noteInspected({ settings }: ClusterState, instance: ReadyInstance, nowMs: number): void {
  const known = instance.suspicion ?? newSuspicion(instance.heardAtMs, nowMs - silentAfter(settings));
  instance.suspicion = { ...known, inspection: 'running', inspectedAtMs: nowMs };
}

/** An instance's silence counts only when the API was able to hear it for the whole time. */
export const countsSilence = (settings: ClusterSettings, { linkWorks, listeningMs }: Inspection): boolean =>
  linkWorks && isSilenceKnown(silentAfter(settings), listeningMs);

export type Inspection = ProviderSightings & HeardReport;

/** Applies one answer of an inspection; a silence counts once for each inspection. Returns why the instance is lost, or null. */
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

/** Ends the suspicion of an instance that the API has heard since the suspicion began. */
function noteHeard(instance: ReadyInstance, heardAtMs: number): void {
  const { suspicion } = instance;
  instance.heardAtMs = Math.max(instance.heardAtMs, heardAtMs);
  if (suspicion === null) return;
  if (Math.max(heardAtMs, suspicion.sinceMs) > suspicion.raisedAtMs) instance.suspicion = null;
  else if (heardAtMs > suspicion.sinceMs) Object.assign(suspicion, { sinceMs: heardAtMs, silent: 0, missing: 0 });
}

/** Consecutive inspections that found the instance existing and silent. */
export const silentInspections = (instance: ClusterInstance): number =>
  instance.state === 'ready' ? (instance.suspicion?.silent ?? 0) : 0;

/** Times at which an inspection becomes due without an event. */
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
 * Aligns the checks to a grid of each cluster's own, so one inspection serves all instances and clusters do not check at the same time. The first
 * check follows soon after the registration, because an instance whose row the API never wrote is not suspected otherwise.
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

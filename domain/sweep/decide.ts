// Finds orphans: instances and cloud resources that carry our tags but that no open workflow claims. Terminating a used instance is far worse than
// paying for an orphan a little longer, so uncertain cases are kept: an orphan was seen unowned twice, a grace period apart, in a namespace that
// certainly belongs to this deployment.
import type { CloudResourceKind } from '../cloud-resource.ts';
import { type Owner, ownerKey } from '../owner.ts';
import type { WorkflowPresence } from '../presence.ts';
import type { Sighting, SweepDecision, SweepObservation, SweepSettings, Verdict } from './state.ts';

/** Judges all listed resources once; the next run must receive the returned sightings. */
export function decideSweep(
  settings: SweepSettings,
  observation: SweepObservation,
  before: readonly Sighting[],
  nowMs: number,
): SweepDecision {
  const { deploymentInTemporal, instances } = observation;
  if (deploymentInTemporal !== settings.deploymentId) {
    const refusal = describeMismatch(settings.deploymentId, deploymentInTemporal);
    // Sightings from a foreign namespace prove nothing; after an outage they remain valid.
    const sightings = deploymentInTemporal === null ? [...before] : [];
    return { refusal, verdicts: [], orphans: [], leftovers: [], sightings };
  }
  const needy = new Set(instances.map(({ owner }) => ownerKey(owner)));
  const firstSeen = new Map(before.map(({ id, firstSeenMs }) => [id, firstSeenMs]));
  const states = new Map(observation.clusters.map(({ number, state }) => [number, state]));
  const verdicts = [
    ...instances.map(({ id, owner, launchedAtMs }) => ({ id, owner, bornAtMs: launchedAtMs, isNeeded: false })),
    ...observation.resources.map(({ id, kind, owner, createdAtMs }) => {
      return { id, owner, kind, bornAtMs: createdAtMs, isNeeded: needy.has(ownerKey(owner)) };
    }),
  ].map((thing) => {
    const state = states.get(thing.owner.cluster) ?? 'unknown';
    return judge(settings, thing, state, firstSeen.get(thing.id) ?? null, nowMs);
  });
  const orphans = verdicts.filter(({ verdict }) => verdict === 'orphan');
  return {
    refusal: null,
    verdicts,
    orphans: orphans.flatMap(({ id, owner, kind }) => (kind === undefined ? [{ id, owner }] : [])),
    leftovers: orphans.flatMap(({ id, owner, kind }) => (kind === undefined ? [] : [{ id, owner }])),
    sightings: verdicts.flatMap(({ id, unownedSinceMs }) =>
      unownedSinceMs === null ? [] : [{ id, firstSeenMs: unownedSinceMs }],
    ),
  };
}

interface Thing {
  id: string;
  owner: Owner;
  kind?: CloudResourceKind;
  /** Null when the cloud does not report it. */
  bornAtMs: number | null;
  /** An instance of the same cluster is still listed. */
  isNeeded: boolean;
}

function judge(
  { deploymentId, graceMs, launchMs }: SweepSettings,
  { id, owner, kind, bornAtMs, isNeeded }: Thing,
  state: WorkflowPresence,
  seenMs: number | null,
  nowMs: number,
): Verdict {
  const say = (verdict: Verdict['verdict'], text: string, unownedSinceMs: number | null): Verdict => {
    return { id, owner, ...(kind === undefined ? {} : { kind }), verdict, text, unownedSinceMs };
  };
  if (owner.deploymentId !== deploymentId) return say('foreign', `belongs to deployment ${owner.deploymentId}`, null);
  const name = `cluster/${owner.cluster}`;
  if (state === 'open') return say('owned', `${name} is open`, null);
  // Unknown: neither a new sighting nor a reason to forget one.
  if (state === 'unknown') return say('unknown', `${name} could not be described`, seenMs);
  if (isNeeded) return say('needed', `${name} is ${state}, but an instance of it is still there`, null);
  const ripeMs = kind === undefined ? graceMs : Math.max(graceMs, launchMs);
  const ageMs = nowMs - (bornAtMs ?? -Infinity);
  if (ageMs < ripeMs) return say('young', `${name} is ${state}, but it was made ${seconds(ageMs)} ago`, null);
  // A clock that was set back must not shorten the grace period.
  const sinceMs = seenMs === null ? nowMs : Math.min(seenMs, nowMs);
  const waitedMs = nowMs - sinceMs;
  // A resource of unknown age is as old as its first sighting.
  const enoughMs = bornAtMs === null ? ripeMs : graceMs;
  if (waitedMs < enoughMs) return say('suspected', `${name} is ${state}, seen for ${seconds(waitedMs)}`, sinceMs);
  // Remembered until it is terminated, so the next run repeats failures.
  return say('orphan', `${name} is ${state}, seen for ${seconds(waitedMs)}`, sinceMs);
}

/** Groups orphans by owner, because a provider terminates the instances of one owner in one call. */
export function groupByOwner(instances: readonly { id: string; owner: Owner }[]): { owner: Owner; ids: string[] }[] {
  const groups = new Map<string, { owner: Owner; ids: string[] }>();
  for (const { id, owner } of instances) {
    const key = ownerKey(owner);
    const group = groups.get(key) ?? { owner, ids: [] };
    group.ids.push(id);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1_000))} s`;

const describeMismatch = (own: string, found: string | null): string =>
  found === null
    ? `the deployment that this Temporal namespace belongs to is unknown, so nothing of ${own} was touched`
    : `this Temporal namespace belongs to deployment ${found}, not to ${own}; nothing was touched`;

// Which instances are orphans: tagged as ours, but claimed by no open workflow. Ending the instance of somebody who is
// alive is far worse than paying for an orphan a little longer, so every doubt keeps: an orphan is only what was seen
// unowned twice, a grace period apart, by a namespace that is certainly this deployment's.
import type { Owner } from '../owner.ts';
import type { ClusterPresence, Sighting, SweepDecision, SweepObservation, SweepSettings, Verdict } from './state.ts';

/** Judges every listed instance once; the sightings it returns are what the next run must be given. */
export function decideSweep(
  settings: SweepSettings,
  observation: SweepObservation,
  before: readonly Sighting[],
  nowMs: number,
): SweepDecision {
  const { deploymentInTemporal } = observation;
  if (deploymentInTemporal !== settings.deploymentId) {
    const refusal = describeMismatch(settings.deploymentId, deploymentInTemporal);
    // In a strange namespace what was seen before is no proof either; an outage merely proves nothing.
    const sightings = deploymentInTemporal === null ? [...before] : [];
    return { refusal, verdicts: [], orphans: [], sightings };
  }
  const firstSeen = new Map(before.map(({ id, firstSeenMs }) => [id, firstSeenMs]));
  const states = new Map(observation.clusters.map(({ number, state }) => [number, state]));
  const verdicts = observation.instances.map((instance) => {
    const state = states.get(instance.owner.cluster) ?? 'unknown';
    return judge(settings, instance, state, firstSeen.get(instance.id) ?? null, nowMs);
  });
  return {
    refusal: null,
    verdicts,
    orphans: verdicts.flatMap(({ id, owner, verdict }) => (verdict === 'orphan' ? [{ id, owner }] : [])),
    sightings: verdicts.flatMap(({ id, unownedSinceMs }) =>
      unownedSinceMs === null ? [] : [{ id, firstSeenMs: unownedSinceMs }],
    ),
  };
}

type Instance = SweepObservation['instances'][number];

function judge(
  { deploymentId, graceMs }: SweepSettings,
  { id, owner, launchedAtMs }: Instance,
  state: ClusterPresence,
  seenMs: number | null,
  nowMs: number,
): Verdict {
  const say = (verdict: Verdict['verdict'], text: string, unownedSinceMs: number | null): Verdict => {
    return { id, owner, verdict, text, unownedSinceMs };
  };
  if (owner.deploymentId !== deploymentId) return say('foreign', `belongs to deployment ${owner.deploymentId}`, null);
  const name = `cluster/${owner.cluster}`;
  if (state === 'open') return say('owned', `${name} is open`, null);
  // Nothing was learned: neither a sighting nor a reason to forget one.
  if (state === 'unknown') return say('unknown', `${name} could not be described`, seenMs);
  const ageMs = nowMs - launchedAtMs;
  if (ageMs < graceMs) return say('young', `${name} is ${state}, but it was launched ${seconds(ageMs)} ago`, null);
  // A clock that was set back must not make the grace period shorter.
  const sinceMs = seenMs === null ? nowMs : Math.min(seenMs, nowMs);
  const waitedMs = nowMs - sinceMs;
  if (waitedMs < graceMs) return say('suspected', `${name} is ${state}, seen for ${seconds(waitedMs)}`, sinceMs);
  // Remembered until it is gone, so that the next run repeats a termination that failed.
  return say('orphan', `${name} is ${state}, seen for ${seconds(waitedMs)}`, sinceMs);
}

/** Orphans by owner, because that is how a provider is told to end them. */
export function groupByOwner(instances: readonly { id: string; owner: Owner }[]): { owner: Owner; ids: string[] }[] {
  const groups = new Map<string, { owner: Owner; ids: string[] }>();
  for (const { id, owner } of instances) {
    const key = JSON.stringify([owner.deploymentId, owner.workspace, owner.cluster]);
    const group = groups.get(key) ?? { owner, ids: [] };
    group.ids.push(id);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1_000))} s`;

const describeMismatch = (own: string, found: string | null): string =>
  found === null
    ? `the deployment that this Temporal namespace belongs to could not be told, so nothing of ${own} was touched`
    : `this Temporal namespace belongs to deployment ${found}, not to ${own}; nothing was touched`;

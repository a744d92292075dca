// A simulated world of the sweep: instances of ours, of others, young and old, whose workflows open, close and cannot be
// asked, looked at by one run after another. The oracle is the log of everything the runs were shown, never their memory.
import fc from 'fast-check';

import type { ClusterPresence, Sighting, SweepObservation } from '../../domain/sweep/state.ts';
import type { SweepRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, same } from './worlds.ts';

const subjects = [
  ...['owned', 'foreign', 'young', 'unknown', 'suspected', 'orphan', 'strange namespace', 'no answer', 'vanished'],
  ...['orphan after an error', 'saved by opening again'],
] as const;
type Subject = (typeof subjects)[number];

/** Runs many worlds against the rules; throws when one breaks them. */
export function checkSweepWorlds(rules: SweepRules, options: CheckOptions): Record<string, number> {
  const run = (plan: SweepPlan, met: Met<Subject>): void => runSweepWorld(rules, plan, met);
  return checkWorlds({ plan: sweepPlan, subjects, run }, options);
}

const own = 'dep_own';
const graceMs = 100;
const presence = fc.constantFrom<ClusterPresence>('open', 'closed', 'closed', 'closed', 'not found', 'unknown');
/** What a run is shown of one instance; null when the provider does not list it. */
const look = fc.oneof(
  { weight: 9, arbitrary: fc.record({ state: presence, isAsked: fc.integer({ min: 0, max: 19 }).map((n) => n > 0) }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const runPlan = fc.record({
  // Around the grace period, because the edges are there; now and then the clock is set back.
  afterMs: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(1, 40, 60, 99, 100, 101) },
    { weight: 1, arbitrary: fc.constant(-70) },
  ),
  namespace: fc.constantFrom(...Array.from({ length: 14 }, () => own), 'dep_other', null),
  looks: fc.array(look, { minLength: 4, maxLength: 4 }),
  isReversed: fc.boolean(),
});
const sweepPlan = fc.record({
  instances: fc.array(
    fc.record({
      deploymentId: fc.constantFrom(own, own, own, 'dep_other'),
      cluster: fc.constantFrom(1, 2, 3),
      launchedAtMs: fc.constantFrom(-1_000, -1_000, -100, 0, 150),
    }),
    { minLength: 4, maxLength: 4 },
  ),
  runs: fc.array(runPlan, { minLength: 4, maxLength: 9, size: 'max' }),
});
type SweepPlan = typeof sweepPlan extends fc.Arbitrary<infer T> ? T : never;

interface Shown {
  nowMs: number;
  namespace: string | null;
  /** null when it was not listed. */
  state: ClusterPresence | null;
}

function runSweepWorld(rules: SweepRules, { instances, runs }: SweepPlan, met: Met<Subject>): void {
  const settings = { deploymentId: own, graceMs };
  const shown: Shown[][] = instances.map(() => []);
  let memory: Sighting[] = [];
  let nowMs = 0;
  for (const run of runs) {
    nowMs += run.afterMs;
    const observation = observe(instances, run);
    for (const [at] of instances.entries()) {
      shown[at]?.push({ nowMs, namespace: run.namespace, state: stateShown(observation, at) });
    }
    const before = JSON.stringify(memory);
    const decision = rules.decideSweep(settings, observation, memory, nowMs);
    must(JSON.stringify(memory) === before, () => 'the memory was changed, not replaced');
    if (run.namespace !== own) {
      met(run.namespace === null ? 'no answer' : 'strange namespace');
      must(decision.orphans.length === 0, () => 'something was ended in a namespace that is not ours');
      must(decision.refusal !== null, () => 'a strange namespace was not refused');
      memory = copy(decision.sightings);
      continue;
    }
    for (const [at, instance] of instances.entries()) {
      const log = shown[at] ?? [];
      const ends = decision.orphans.some(({ id }) => id === idOf(at));
      const expected = isOrphan(instance, log);
      must(ends === expected, () => `${idOf(at)} is ${ends ? '' : 'not '}ended after ${JSON.stringify(log)}`);
      note(met, log, decision.verdicts.find(({ id }) => id === idOf(at))?.verdict, expected);
    }
    must(decision.verdicts.length === observation.instances.length, () => 'not every instance was judged once');
    const listed = new Set(observation.instances.map(({ id }) => id));
    must(
      decision.sightings.every(({ id }) => listed.has(id)),
      () => 'an instance that is gone is remembered',
    );
    const again = rules.decideSweep(settings, observation, copy(decision.sightings), nowMs);
    must(same(again.orphans, decision.orphans), () => 'the same look, repeated, decides otherwise');
    must(same(again.sightings, decision.sightings), () => 'the same look, repeated, remembers otherwise');
    const groups = rules.groupByOwner(decision.orphans);
    const grouped = groups.flatMap(({ owner, ids }) => ids.map((id) => `${id} ${owner.cluster}`)).toSorted();
    must(
      same(grouped, decision.orphans.map(({ id, owner }) => `${id} ${owner.cluster}`).toSorted()),
      () => 'grouping by owner lost, doubled or moved an instance',
    );
    memory = copy(decision.sightings);
  }
}

/**
 * From everything that was ever shown: of our deployment, old enough now, unowned now, and unowned (and old enough) at
 * least a grace period ago with nothing in between that speaks for it.
 */
function isOrphan({ deploymentId, launchedAtMs }: SweepPlan['instances'][number], log: Shown[]): boolean {
  const isUnowned = ({ namespace, state, nowMs }: Shown): boolean =>
    namespace === own && (state === 'closed' || state === 'not found') && nowMs - launchedAtMs >= graceMs;
  const speaksForIt = ({ namespace, state, nowMs }: Shown): boolean => {
    if (namespace === null) return false;
    if (namespace !== own || state === null || state === 'open') return true;
    return state !== 'unknown' && nowMs - launchedAtMs < graceMs;
  };
  const last = log.at(-1);
  if (last === undefined || deploymentId !== own || !isUnowned(last)) return false;
  let firstMs = last.nowMs;
  for (const each of log.toReversed()) {
    if (speaksForIt(each)) break;
    // A clock that was set back makes what came before it look no older than it was then.
    if (isUnowned(each)) firstMs = Math.min(firstMs, each.nowMs);
  }
  return last.nowMs - firstMs >= graceMs;
}

function observe(instances: SweepPlan['instances'], run: SweepPlan['runs'][number]): SweepObservation {
  const clusters = new Map<number, ClusterPresence>();
  const listed = instances.flatMap((instance, at) => {
    const each = run.looks[at];
    if (each === null || each === undefined) return [];
    const { deploymentId, cluster, launchedAtMs } = instance;
    // Instances of one cluster share its workflow: the first look says how it is.
    if (each.isAsked && !clusters.has(cluster)) clusters.set(cluster, each.state);
    return [{ id: idOf(at), owner: { deploymentId, workspace: 'w', cluster }, launchedAtMs }];
  });
  return {
    deploymentInTemporal: run.namespace,
    instances: run.isReversed ? listed.toReversed() : listed,
    clusters: [...clusters].map(([number, state]) => ({ number, state })),
  };
}

function stateShown({ instances, clusters }: SweepObservation, at: number): ClusterPresence | null {
  const instance = instances.find(({ id }) => id === idOf(at));
  if (instance === undefined) return null;
  return clusters.find(({ number }) => number === instance.owner.cluster)?.state ?? 'unknown';
}

function note(met: Met<Subject>, log: Shown[], verdict: Subject | undefined, ends: boolean): void {
  if (verdict !== undefined) met(verdict);
  else met('vanished');
  const [before, last] = [log.at(-2), log.at(-1)];
  if (ends && (before?.state === 'unknown' || before?.namespace === null)) met('orphan after an error');
  if (before?.state === 'closed' && last?.state === 'open') met('saved by opening again');
}

const idOf = (at: number): string => `i_${at}`;

/** As it comes back from the store. */
function copy(sightings: Sighting[]): Sighting[] {
  const parsed: Sighting[] = JSON.parse(JSON.stringify(sightings));
  return parsed;
}

// A simulation of the sweep: instances and resources of this deployment and of others, young and old, with workflows that open, close or cannot be
// queried, examined by one run after another. The oracle is the log of everything that the runs were shown, never their memory.
import fc from 'fast-check';

import type { CloudResourceKind } from '../../domain/cloud-resource.ts';
import type { WorkflowPresence } from '../../domain/presence.ts';
import type { Sighting, SweepObservation } from '../../domain/sweep/state.ts';
import type { SweepRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must, same } from './simulations.ts';

const subjects = [
  ...['owned', 'foreign', 'young', 'unknown', 'suspected', 'orphan', 'strange namespace', 'no answer', 'vanished'],
  ...['orphan after an error', 'saved by opening again', 'needed', 'leftover'],
] as const;
type Subject = (typeof subjects)[number];

/** Runs many simulations against the rules; throws when one breaks them. */
export function checkSweepSimulations(rules: SweepRules, options: CheckOptions): Record<string, number> {
  const run = (plan: SweepPlan, met: Met<Subject>): void => runSweepSimulation(rules, plan, met);
  return checkSimulations({ plan: sweepPlan, subjects, run }, options);
}

const own = 'dep_own';
const graceMs = 100;
/** Longer than the grace period, which then alone decides. */
const launchMs = 130;
const presence = fc.constantFrom<WorkflowPresence>('open', 'closed', 'closed', 'closed', 'not found', 'unknown');
/** One instance as a run sees it; null when the provider does not list it. */
const look = fc.oneof(
  { weight: 9, arbitrary: fc.record({ state: presence, isAsked: fc.integer({ min: 0, max: 19 }).map((n) => n > 0) }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const runPlan = fc.record({
  // Around the grace period, to reach its edges; sometimes the clock is set back.
  afterMs: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(1, 40, 60, 99, 100, 101) },
    { weight: 1, arbitrary: fc.constant(-70) },
  ),
  namespace: fc.constantFrom(...Array.from({ length: 14 }, () => own), 'dep_other', null),
  looks: fc.array(look, { minLength: 4, maxLength: 4 }),
  isReversed: fc.boolean(),
});
const sweepPlan = fc.record({
  things: fc.array(
    fc.record({
      kind: fc.constantFrom<CloudResourceKind | null>(null, null, 'volume', 'security group'),
      deploymentId: fc.constantFrom(own, own, own, 'dep_other'),
      cluster: fc.constantFrom(1, 2, 3),
      bornAtMs: fc.constantFrom(-1_000, -1_000, -100, 0, 150),
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
  state: WorkflowPresence | null;
  /** An instance of the same owner was listed too. */
  hasInstance: boolean;
}

function runSweepSimulation(rules: SweepRules, { things, runs }: SweepPlan, met: Met<Subject>): void {
  const settings = { deploymentId: own, graceMs, launchMs };
  const shown: Shown[][] = things.map(() => []);
  let memory: Sighting[] = [];
  let nowMs = 0;
  for (const run of runs) {
    nowMs += run.afterMs;
    const observation = observe(things, run);
    for (const [at, thing] of things.entries()) {
      shown[at]?.push({ nowMs, namespace: run.namespace, ...shownOf(observation, at, thing) });
    }
    const before = JSON.stringify(memory);
    const decision = rules.decideSweep(settings, observation, memory, nowMs);
    must(JSON.stringify(memory) === before, () => 'the memory was changed, not replaced');
    if (run.namespace !== own) {
      met(run.namespace === null ? 'no answer' : 'strange namespace');
      must(
        decision.orphans.length + decision.leftovers.length === 0,
        () => 'something was ended in a namespace that is not ours',
      );
      must(decision.refusal !== null, () => 'a strange namespace was not refused');
      memory = copy(decision.sightings);
      continue;
    }
    for (const [at, thing] of things.entries()) {
      const log = shown[at] ?? [];
      const ended = thing.kind === null ? decision.orphans : decision.leftovers;
      const ends = ended.some(({ id }) => id === idOf(at));
      const expected = isOrphan(thing, log);
      must(ends === expected, () => `${idOf(at)} is ${ends ? '' : 'not '}ended after ${JSON.stringify(log)}`);
      note(met, thing, log, decision.verdicts.find(({ id }) => id === idOf(at))?.verdict, expected);
    }
    const listed = new Set([...observation.instances, ...observation.resources].map(({ id }) => id));
    must(decision.verdicts.length === listed.size, () => 'not everything was judged once');
    must(
      decision.orphans.length + decision.leftovers.length ===
        decision.verdicts.filter(({ verdict }) => verdict === 'orphan').length,
      () => 'an instance was taken for a cloud resource, or the other way round',
    );
    must(
      decision.sightings.every(({ id }) => listed.has(id)),
      () => 'an instance that is gone is remembered',
    );
    const again = rules.decideSweep(settings, observation, copy(decision.sightings), nowMs);
    must(
      same([again.orphans, again.leftovers], [decision.orphans, decision.leftovers]),
      () => 'the same look, repeated, decides otherwise',
    );
    must(same(again.sightings, decision.sightings), () => 'the same look, repeated, remembers otherwise');
    const ends = [...decision.orphans, ...decision.leftovers];
    const groups = rules.groupByOwner(ends);
    const grouped = groups.flatMap(({ owner, ids }) => ids.map((id) => `${id} ${owner.cluster}`)).toSorted();
    must(
      same(grouped, ends.map(({ id, owner }) => `${id} ${owner.cluster}`).toSorted()),
      () => 'grouping by owner lost, doubled or moved an instance',
    );
    memory = copy(decision.sightings);
  }
}

type Thing = SweepPlan['things'][number];

/**
 * By everything that was ever shown: an orphan belongs to this deployment, is old enough and unowned now, and was unowned (and old enough) at least a
 * grace period ago with no sign of an owner in between. A cloud resource must be older and its cluster must have no instance; one without a creation
 * time is watched for the same period.
 */
function isOrphan({ deploymentId, bornAtMs, kind }: Thing, log: Shown[]): boolean {
  const ripeMs = kind === null ? graceMs : launchMs;
  const isRipe = (nowMs: number): boolean => kind === 'security group' || nowMs - bornAtMs >= ripeMs;
  const isNeeded = ({ hasInstance }: Shown): boolean => kind !== null && hasInstance;
  const isUnowned = (look: Shown): boolean =>
    look.namespace === own &&
    (look.state === 'closed' || look.state === 'not found') &&
    isRipe(look.nowMs) &&
    !isNeeded(look);
  const speaksForIt = (look: Shown): boolean => {
    const { namespace, state, nowMs } = look;
    if (namespace === null) return false;
    if (namespace !== own || state === null || state === 'open') return true;
    return state !== 'unknown' && (!isRipe(nowMs) || isNeeded(look));
  };
  const last = log.at(-1);
  if (last === undefined || deploymentId !== own || !isUnowned(last)) return false;
  let firstMs = last.nowMs;
  for (const each of log.toReversed()) {
    if (speaksForIt(each)) break;
    // The minimum, because the clock may have been set back between two sightings.
    if (isUnowned(each)) firstMs = Math.min(firstMs, each.nowMs);
  }
  return last.nowMs - firstMs >= (kind === 'security group' ? launchMs : graceMs);
}

function observe(things: Thing[], run: SweepPlan['runs'][number]): SweepObservation {
  const clusters = new Map<number, WorkflowPresence>();
  const listed = things.flatMap(({ deploymentId, cluster, bornAtMs, kind }, at) => {
    const each = run.looks[at];
    if (each === null || each === undefined) return [];
    // The things of one cluster share a workflow: the first query decides its state.
    if (each.isAsked && !clusters.has(cluster)) clusters.set(cluster, each.state);
    return [{ id: idOf(at), owner: { deploymentId, workspace: 'w', cluster }, bornAtMs, kind }];
  });
  const shown = run.isReversed ? listed.toReversed() : listed;
  return {
    deploymentInTemporal: run.namespace,
    instances: shown.flatMap(({ id, owner, bornAtMs, kind }) =>
      kind === null ? [{ id, owner, launchedAtMs: bornAtMs }] : [],
    ),
    resources: shown.flatMap(({ id, owner, bornAtMs, kind }) =>
      kind === null ? [] : [{ id, owner, kind, createdAtMs: kind === 'security group' ? null : bornAtMs }],
    ),
    clusters: [...clusters].map(([number, state]) => ({ number, state })),
  };
}

function shownOf(
  { instances, resources, clusters }: SweepObservation,
  at: number,
  { cluster, deploymentId }: Thing,
): Pick<Shown, 'state' | 'hasInstance'> {
  const isListed = [...instances, ...resources].some(({ id }) => id === idOf(at));
  const state = clusters.find(({ number }) => number === cluster)?.state ?? 'unknown';
  const hasInstance = instances.some(({ owner }) => owner.cluster === cluster && owner.deploymentId === deploymentId);
  return { state: isListed ? state : null, hasInstance };
}

function note(met: Met<Subject>, { kind }: Thing, log: Shown[], verdict: Subject | undefined, ends: boolean): void {
  if (verdict !== undefined) met(verdict);
  else met('vanished');
  if (ends && kind !== null) met('leftover');
  const [before, last] = [log.at(-2), log.at(-1)];
  if (ends && (before?.state === 'unknown' || before?.namespace === null)) met('orphan after an error');
  if (before?.state === 'closed' && last?.state === 'open') met('saved by opening again');
}

const idOf = (at: number): string => `i_${at}`;

/** As the store returns it. */
function copy(sightings: Sighting[]): Sighting[] {
  const parsed: Sighting[] = JSON.parse(JSON.stringify(sightings));
  return parsed;
}

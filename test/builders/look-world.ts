// A simulated world of a workspace that looks at the workflows of its reservations: some end from outside, some are not
// clearly seen, some are released meanwhile. The onlooker keeps every sighting and judges by all of them.
import fc from 'fast-check';

import { lookAgainMs, lookEveryMs, youngHolderMs } from '../../domain/limits.ts';
import type { HolderSighting } from '../../domain/workspace/reconcile.ts';
import type { Holder, WorkspaceState } from '../../domain/workspace/state.ts';
import type { LookRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, pick, same } from './worlds.ts';

const subjects = [
  'gone',
  'job gone',
  'cluster gone',
  'back again',
  'not seen clearly',
  'too young',
  'released',
] as const;
type Subject = (typeof subjects)[number];
type Presence = HolderSighting['cluster'];

const presence = fc.constantFrom<Presence>('open', 'open', 'closed', 'closed', 'closed', 'not found', 'unknown');
const step = fc.record({
  /** Null: until the next look is due. */
  wait: fc.constantFrom(null, null, null, 1_000, 30_000),
  jobs: fc.array(presence, { minLength: 4, maxLength: 4 }),
  clusters: fc.array(presence, { minLength: 4, maxLength: 4 }),
  /** Things mostly stay as they were seen. */
  same: fc.constantFrom(true, true, false),
  release: fc.constantFrom(null, null, null, 0, 1, 2),
  soon: fc.constantFrom(false, false, true),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const plan = fc.record({
  kinds: fc.array(fc.constantFrom<Holder['kind']>('job', 'job', 'job', 'cluster'), { minLength: 1, maxLength: 4 }),
  reserved: fc.nat(6),
  steps: fc.array(step, { minLength: 2, maxLength: 8 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

export function checkLookWorlds(rules: LookRules, options: CheckOptions): Record<string, number> {
  return checkWorlds({ plan, subjects, run: (each: Plan, met) => runLookWorld(rules, each, met) }, options);
}

function runLookWorld(rules: LookRules, { kinds, reserved, steps }: Plan, met: Met<Subject>): void {
  let state = rules.createWorkspaceState({
    ...{ slug: 'w', deploymentId: 'd', createdAtMs: 0, block: { next: 1, end: 1 } },
  });
  state.holders = kinds.map((kind, index) => holderOf(kind, index, index === reserved ? 'reserved' : 'running'));
  const seen = new Map<number, { atMs: number; sighting: HolderSighting }[]>();
  let nowMs = bornAtMs;
  let last: Step | null = null;
  for (const each of steps) {
    const dueMs = rules.nextLookMs(state);
    const hasOpen = state.holders.some((holder) => holder.state === 'running');
    must((dueMs !== null) === hasOpen, () => `the next look is at ${dueMs}`);
    must(dueMs === null || dueMs <= nowMs + lookEveryMs + youngHolderMs, () => 'it does not look for long');
    nowMs = Math.max(nowMs, each.wait === null ? (dueMs ?? nowMs) : nowMs + each.wait);
    const asked = rules.beginLook(state, nowMs);
    const due = state.holders.filter((holder) => holder.state === 'running' && nowMs >= bornAtMs + youngHolderMs);
    if (due.length === 0 && hasOpen) met('too young');
    must(same(asked, due), () => 'it looks at others than those that must be there');
    const words: Step = each.same && last !== null ? last : each;
    last = words;
    if (each.release !== null) release(rules, state, each.release, met);
    const sightings = asked.map(({ number, kind }) => ({
      number,
      job: kind === 'job' ? (words.jobs[number - 1] ?? 'unknown') : null,
      cluster: words.clusters[number - 1] ?? 'unknown',
    }));
    for (const sighting of sightings) {
      const earlier = seen.get(sighting.number) ?? [];
      if (isUnclear(sighting)) met('not seen clearly');
      else if (earlier.length > 0 && isGone(earlier.at(-1)?.sighting) && !isGone(sighting)) met('back again');
      if (!isUnclear(sighting)) seen.set(sighting.number, [...earlier, { atMs: nowMs, sighting }]);
    }
    check(state, rules.judgeLook(state, sightings), sightings, seen, met);
    if (each.soon) rules.lookSoon(state);
    if (each.soon && hasOpen) must((rules.nextLookMs(state) ?? 0) <= nowMs, () => 'a wanted look is not now');
    const copy: WorkspaceState = JSON.parse(JSON.stringify(state));
    must(same(copy, state), () => 'the state is not plain JSON');
    state = copy;
  }
}

/** By everything that was clearly seen: the same end at this look and at one long enough before, and never else between. */
function check(
  state: WorkspaceState,
  verdicts: ReturnType<LookRules['judgeLook']>,
  sightings: HolderSighting[],
  seen: Map<number, { atMs: number; sighting: HolderSighting }[]>,
  met: Met<Subject>,
): void {
  const named = (list: { number: number }[], number: number): boolean => list.some((each) => each.number === number);
  for (const sighting of sightings) {
    const { number } = sighting;
    const history = seen.get(number) ?? [];
    const since = history.findLastIndex((each) => !same(ends(each.sighting), ends(sighting))) + 1;
    const fromMs = history[since]?.atMs ?? Infinity;
    const isSure =
      !isUnclear(sighting) && (history.at(-1)?.atMs ?? 0) >= fromMs + lookAgainMs && named(state.holders, number);
    const { job, cluster } = ends(sighting);
    must(named(verdicts.gone, number) === (isSure && job && cluster !== 'open'), () => `gone: ${number}`);
    const isHalf = isSure && sighting.job !== null;
    must(named(verdicts.stopCluster, number) === (isHalf && job && cluster === 'open'), () => `stop: ${number}`);
    must(named(verdicts.endJob, number) === (isHalf && !job && cluster === 'closed'), () => `end job: ${number}`);
  }
  if (verdicts.gone.length > 0) met('gone');
  if (verdicts.stopCluster.length > 0) met('job gone');
  if (verdicts.endJob.length > 0) met('cluster gone');
}

/** Whether its job is over, if it has one, and what its cluster is to be taken for. */
function ends({ job, cluster }: HolderSighting): { job: boolean; cluster: 'open' | 'closed' } {
  const isJobOver = job === null || job === 'closed' || job === 'not found';
  // A job that still runs may not have started its cluster yet.
  const isOver = cluster === 'closed' || (cluster === 'not found' && isJobOver);
  return { job: isJobOver, cluster: isOver ? 'closed' : 'open' };
}

const isUnclear = ({ job, cluster }: HolderSighting): boolean => job === 'unknown' || cluster === 'unknown';
const isGone = (sighting: HolderSighting | undefined): boolean =>
  sighting !== undefined && ends(sighting).job && ends(sighting).cluster === 'closed';

function release(rules: LookRules, state: WorkspaceState, index: number, met: Met<Subject>): void {
  const holder = pick(state.holders, index);
  if (holder === undefined) return;
  met('released');
  rules.release(state, holder.number);
}

const bornAtMs = 1_000_000;

function holderOf(kind: Holder['kind'], index: number, state: Holder['state']): Holder {
  return {
    ...{ number: index + 1, kind, name: `h${index}`, admissionId: `adm_${index}`, specRef: 's', user: 'u' },
    ...{ instances: 1, vcpus: 1, reservedAtMs: bornAtMs, state },
  };
}

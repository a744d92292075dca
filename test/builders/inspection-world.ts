// A simulated cluster of a job whose instances die when nobody would miss them: some hold no lease, some cannot be heard, some
// their cloud has forgotten. The oracle knows who lives, and counts what is asked of the cloud.
import fc from 'fast-check';

import type { Decision, Plan } from '../../domain/cluster/plan.ts';
import type { ClusterInstance, ClusterState } from '../../domain/cluster/state.ts';
import {
  firstInspectionMs,
  massLossMinimum,
  massLossShare,
  maxMissing,
  maxSilentInspections,
  quietMs,
} from '../../domain/limits.ts';
import type { ClusterRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, pick } from './worlds.ts';

export const inspectionSubjects = [
  'gone',
  'forgotten',
  'not shown',
  'quiet and alive',
  'heard again',
  'hung',
  'many hung at once',
  'on this machine',
] as const;
type InspectionSubject = (typeof inspectionSubjects)[number];

/** Runs many worlds against the rules; throws when one breaks them. */
export function checkInspectionWorlds(rules: ClusterRules, options: CheckOptions): Record<string, number> {
  const run = (plan: InspectionPlan, met: Met<InspectionSubject>): void => runWorld(rules, plan, met);
  return checkWorlds({ plan: inspectionPlan, subjects: inspectionSubjects, run }, options);
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('register'), instance: fc.nat(5) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('wake') }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, 20_000, 200_000) }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('answer'), link: fc.boolean(), hidden: fc.constantFrom(0, 0, 1, 2) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('alive') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('mute'), instance: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mute all') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unmute'), instance: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('die'), instance: fc.nat(5), forgotten: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('suspect'), instance: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('roll') }) },
);
const inspectionPlan = fc.record({
  instances: fc.integer({ min: 1, max: 5 }),
  cloud: fc.constantFrom(true, true, true, false),
  steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
});
type InspectionPlan = typeof inspectionPlan extends fc.Arbitrary<infer T> ? T : never;
type Inspect = Extract<Decision, { kind: 'inspect' }>;

interface World {
  rules: ClusterRules;
  state: ClusterState;
  cloud: boolean;
  nowMs: number;
  born: number;
  underWay: { ids: string[]; quiet: Set<string>; askedAtMs: number }[];
  dead: Map<string, 'gone' | 'forgotten'>;
  mute: Set<string>;
  /** How often in a row the cloud did not show one, its agent not having spoken. */
  unseen: Map<string, number>;
  /** How often in a row the cloud showed one that was quiet when it was asked about. */
  silent: Map<string, number>;
  suspected: Set<string>;
  told: Set<string>;
  /** Minutes in which the cloud was asked about the quiet. */
  minutes: Set<number>;
  met: Met<InspectionSubject>;
}

const bornAtMs = 1_000_000;
const minuteMs = 60_000;
/** Of the end of each world. */
const hours = 5;

function runWorld(rules: ClusterRules, { instances, cloud, steps }: InspectionPlan, met: World['met']): void {
  const machines = {
    ...{ workerTypes: ['m'], headTypes: ['m'], architecture: 'x86_64' as const, spotPolicy: 'on-demand' as const },
    ...{ region: 'r', zones: ['a'], allowCrossZone: false, diskGib: 30 },
  };
  const settings = {
    ...{ name: 'simulated', job: 7, instances, provider: 'aws', providerQueue: 'aws', instanceVcpus: 1 },
    ...{ registerTimeoutMs: 1e12, dask: null },
    ...(cloud ? { machines } : {}),
  };
  const state = rules.createClusterState({ number: 7, workspace: 'w', user: 'u', createdAtMs: bornAtMs }, settings);
  const books = {
    dead: new Map(),
    mute: new Set<string>(),
    unseen: new Map(),
    silent: new Map(),
    suspected: new Set<string>(),
  };
  const counts = { told: new Set<string>(), minutes: new Set<number>(), underWay: [], born: 0 };
  const world: World = { rules, state, cloud, nowMs: bornAtMs, ...books, ...counts, met };
  decide(world);
  for (const each of steps) {
    take(world, each);
    decide(world);
  }
  endGame(world);
}

function take(world: World, each: typeof step extends fc.Arbitrary<infer T> ? T : never): void {
  const { rules, state, dead } = world;
  if (each.do === 'wait') world.nowMs += each.ms;
  if (each.do === 'wake') world.nowMs = soon(rules.planCluster(state, world.nowMs).wakeAtMs) ?? world.nowMs;
  if (each.do === 'answer') answer(world, each.link, each.hidden);
  if (each.do === 'alive') speak(world);
  if (each.do === 'mute all') for (const { id } of live(state)) world.mute.add(id);
  if (each.do === 'roll') world.state = JSON.parse(JSON.stringify(state));
  if (!('instance' in each)) return;
  const instance = pick(state.instances, each.instance);
  if (instance === undefined) return;
  const { id, registeredAtMs } = instance;
  if (each.do === 'register' && registeredAtMs === null) say(world, id, 'register');
  if (registeredAtMs === null || dead.has(id)) return;
  if (each.do === 'mute') world.mute.add(id);
  if (each.do === 'unmute' && world.mute.delete(id)) world.met('heard again');
  if (each.do === 'die') dead.set(id, each.forgotten ? 'forgotten' : 'gone');
  // Once each: of that alone nobody is lost who lives.
  if (each.do !== 'suspect' || world.suspected.has(id)) return;
  world.suspected.add(id);
  rules.suspectInstances(state, [{ instance: id, heardAtMs: world.nowMs }], world.nowMs);
}

function say(world: World, instance: string, kind: 'register' | 'alive'): void {
  world.unseen.delete(instance);
  world.silent.delete(instance);
  world.rules.applyReport(world.state, { instance, bootId: instance, kind, address: 'a' }, world.nowMs);
  const isAlarm = world.state.alarm === null || lookHung(world, live(world.state));
  must(isAlarm, () => 'the alarm goes on though they are heard again');
}

function speak(world: World): void {
  for (const { id, state } of world.state.instances) {
    if (state === 'ready' && !world.dead.has(id) && !world.mute.has(id)) say(world, id, 'alive');
  }
}

/** Nobody here fails to register: that time-out is another world's. */
const soon = (wakeAtMs: number | null): number | null => (wakeAtMs === null || wakeAtMs > 1e11 ? null : wakeAtMs);

function decide(world: World): Plan {
  const { rules, state, nowMs } = world;
  for (;;) {
    const plan = rules.planCluster(state, nowMs);
    for (const decision of plan.decisions) {
      if (decision.kind === 'inspect') checkInspect(world, decision);
      rules.intend(state, decision, nowMs);
      if (decision.kind === 'inspect') world.underWay.push(asked(world, decision));
      if (decision.kind === 'tellJob') for (const { instance } of decision.lost) world.told.add(instance);
      if (decision.kind === 'terminate') rules.applyTerminated(state, decision.ids, nowMs);
      if (decision.kind !== 'launch') continue;
      const launched = decision.slots.map(({ slot }) => ({
        id: `i-${(world.born += 1)}`,
        slot,
        offer: 'm',
        zone: 'a',
      }));
      rules.applyLaunch(state, decision.seq, { launched, failures: [] }, nowMs);
    }
    if (plan.decisions.length > 0) continue;
    checkWake(world, plan);
    return plan;
  }
}

/** Those who are asked about because a job suspects them, or are asked about already, are not said to be quiet. */
function asked({ state, nowMs, underWay }: World, { ids }: Inspect): World['underWay'][number] {
  const quiet = state.instances.filter(({ inspected }) => inspected?.underWay === true && inspected.lastMs === nowMs);
  const isNew = (id: string): boolean => !underWay.some((each) => each.quiet.has(id));
  return { ids, quiet: new Set(quiet.map(({ id }) => id).filter(isNew)), askedAtMs: nowMs };
}

function checkInspect({ state, nowMs, ...world }: World, { ids }: Inspect): void {
  const quiet = state.instances.filter(({ id, suspicion }) => ids.includes(id) && suspicion?.inspection !== 'wanted');
  if (quiet.length === 0) return;
  const minute = Math.floor((nowMs - bornAtMs) / minuteMs);
  must(!world.minutes.has(minute), () => 'the cloud is asked twice in a minute');
  world.minutes.add(minute);
  for (const { id, registeredAtMs, heardAtMs, inspected } of quiet) {
    must(registeredAtMs !== null && nowMs >= registeredAtMs + firstInspectionMs, () => `${id} is asked about too soon`);
    must(inspected === undefined || nowMs >= heardAtMs + quietMs, () => `${id} was heard of a moment ago`);
    must(inspected?.underWay !== true, () => `${id} is asked about already`);
    must(state.stopRequested === null, () => 'asks after a stop');
  }
}

/** The clock alone changes nothing before the plan's own wake-up, and something then. */
function checkWake({ rules, state, nowMs }: World, { wakeAtMs }: Plan): void {
  const decisionsAt = (atMs: number): number => rules.planCluster(state, atMs).decisions.length;
  if (wakeAtMs === null) return must(decisionsAt(nowMs + 1e9) === 0, () => 'it will not wake for what is due');
  must(decisionsAt(wakeAtMs - 1) === 0, () => 'it wakes too late');
  must(decisionsAt(wakeAtMs) > 0, () => 'it wakes for nothing');
}

/** What the cloud says of those it was asked about, `hidden` of the living not being shown. Told twice. */
function answer(world: World, linkWorks: boolean, hidden: number): void {
  const { rules, state, dead, unseen, silent, nowMs } = world;
  const { underWay } = world;
  world.underWay = [];
  for (const { ids, quiet, askedAtMs } of underWay) {
    const seen = ids.map((id, at) => {
      const isShown = dead.get(id) !== 'forgotten' && (dead.has(id) || at >= hidden);
      if (!isShown && !dead.has(id)) world.met('not shown');
      return { id, state: isShown ? (dead.has(id) ? ('gone' as const) : ('alive' as const)) : ('unknown' as const) };
    });
    const before = live(state);
    for (const { id, state: is } of seen) {
      if (is !== 'unknown') unseen.delete(id);
      else if (linkWorks) unseen.set(id, (unseen.get(id) ?? 0) + 1);
      if (is === 'alive' && world.mute.has(id)) world.met('quiet and alive');
      const wasQuiet = quiet.has(id) && before.some((each) => each.id === id && each.heardAtMs + quietMs <= askedAtMs);
      if (is === 'alive' && linkWorks && wasQuiet) silent.set(id, (silent.get(id) ?? 0) + 1);
    }
    rules.applyInspection(state, { seen, linkWorks }, nowMs);
    const once = JSON.stringify(state);
    rules.applyInspection(state, { seen, linkWorks }, nowMs);
    must(once === JSON.stringify(state), () => 'the same news told twice made a difference');
    checkLost(world, before, ids);
  }
}

const live = ({ instances }: ClusterState): ClusterInstance[] =>
  instances.filter(({ state }) => state === 'ready' || state === 'starting');

/** So many at once that it is more likely our mistake. */
function lookHung({ silent }: World, among: ClusterInstance[]): boolean {
  const nearly = among.filter(({ id }) => (silent.get(id) ?? 0) >= maxSilentInspections - 1).length;
  return nearly >= massLossMinimum && nearly > among.length * massLossShare;
}

function checkLost(world: World, before: ClusterInstance[], asked: string[]): void {
  const { state, dead, unseen, silent } = world;
  const isLost = (id: string): boolean => state.instances.some((each) => each.id === id && each.state === 'error');
  const isGone = (id: string): boolean => (dead.has(id) && asked.includes(id)) || (unseen.get(id) ?? 0) >= maxMissing;
  const rest = before.filter(({ id }) => !(isLost(id) && isGone(id)));
  const areMany = lookHung(world, rest);
  if (areMany) world.met('many hung at once');
  must(!areMany || state.alarm !== null, () => 'many have hung at once, and nobody is told');
  for (const { id } of before) {
    const hasHung = (silent.get(id) ?? 0) >= maxSilentInspections;
    must(!isLost(id) || isGone(id) || (hasHung && !areMany), () => `${id} is lost though it lives`);
    must(isLost(id) || areMany || !hasHung || !asked.includes(id), () => `${id} has hung and is kept`);
    if (isLost(id)) world.met(isGone(id) ? (dead.get(id) ?? 'not shown') : 'hung');
  }
}

/** From here on everybody lives who lives, and answers come at once: the dead are noticed in time, at a bounded price. */
function endGame(world: World): void {
  const { state, dead } = world;
  if (!world.cloud) world.met('on this machine');
  answer(world, true, 0);
  decide(world);
  const startedMs = world.nowMs;
  const minutesBefore = world.minutes.size;
  const after = (minutes: number): boolean => world.nowMs >= startedMs + minutes * minuteMs;
  const kept = (how: 'gone' | 'forgotten'): string[] =>
    state.instances.flatMap(({ id, state: is }) => (is === 'ready' && dead.get(id) === how ? [id] : []));
  while (!after(60 * hours)) {
    for (const { id, registeredAtMs } of state.instances) if (registeredAtMs === null) say(world, id, 'register');
    speak(world);
    const { wakeAtMs } = decide(world);
    world.nowMs = Math.min(soon(wakeAtMs) ?? world.nowMs + 3 * minuteMs, world.nowMs + 3 * minuteMs);
    decide(world);
    answer(world, true, 0);
    decide(world);
    if (state.stopRequested === null) {
      must(!after(20) || kept('gone').length === 0, () => `${kept('gone').join()} is gone, and nobody noticed`);
      must(!after(40) || kept('forgotten').length === 0, () => `${kept('forgotten').join()} was forgotten by all`);
      const hung = live(state).filter(({ id }) => world.mute.has(id));
      must(
        !after(70) || hung.length === 0 || state.alarm !== null,
        () => `${hung.length} have hung, and nobody noticed`,
      );
    }
  }
  for (const id of dead.keys()) {
    const isKnown = state.instances.some((each) => each.id === id);
    must(isKnown || state.stopRequested !== null || world.told.has(id), () => `the job was not told of ${id}`);
  }
  // Four an hour, and those of the beginning: each instance twice, of which there may be some more by now.
  const asked = world.minutes.size - minutesBefore;
  must(asked <= 4 * hours + 2 * world.born + 2, () => `the cloud was asked ${asked} times in ${hours} hours`);
}

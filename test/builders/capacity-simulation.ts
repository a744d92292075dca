// A simulated cluster on a cloud with changing capacity: pools are emptied and filled, launches get all, some or none of their instances, and users
// scale and stop the cluster meanwhile. The oracle records independently which pool failed when.
import fc from 'fast-check';

import type { MachineSettings } from '../../domain/cluster/capacity/machine-settings.ts';
import type { Plan } from '../../domain/cluster/plan.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { maxCapacityPauseMs, minCapacityPauseMs, unavailableOfferMs } from '../../domain/cluster/limits.ts';
import { type Cloud, type Launch, outcomeOf, pools, poolsOf, types, zones } from './capacity-cloud.ts';
import type { CapacityRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must, same } from './simulations.ts';

export const capacitySubjects = [
  'waits with a time',
  'waits without',
  'part given up',
  'all given up',
  'stop while waiting',
  'all there at last',
] as const;
type CapacitySubject = (typeof capacitySubjects)[number];

/** Runs many simulations against the rules; throws when one breaks them. */
export function checkCapacitySimulations(rules: CapacityRules, options: CheckOptions): Record<string, number> {
  const run = (plan: CapacityPlan, met: Met<CapacitySubject>): void => runSimulation(rules, plan, met);
  return checkSimulations({ plan: capacityPlan, subjects: capacitySubjects, run }, options);
}

const registerTimeoutMs = 1e12;
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('answer') }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('wake') }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('fill'), pool: fc.nat(7), room: fc.integer({ max: 4, min: 0 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('register') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, 20_000, 200_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('scale'), to: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('continue as new') }) },
);

const capacityPlan = fc.record({
  instances: fc.integer({ min: 1, max: 5 }),
  job: fc.boolean(),
  waitMs: fc.constantFrom(undefined, 60_000, 900_000, 2 * 3_600_000),
  spotPolicy: fc.constantFrom('on-demand' as const, 'spot' as const, 'spot_with_fallback' as const),
  allowCrossZone: fc.boolean(),
  quota: fc.boolean(),
  room: fc.oneof(fc.constant([]), fc.array(fc.constantFrom(0, 0, 1, 3), { minLength: 8, maxLength: 8 })),
  steps: fc.array(step, { minLength: 4, maxLength: 30, size: 'max' }),
  end: fc.constantFrom('nothing', 'nothing', 'plenty', 'stop'),
});
type CapacityPlan = typeof capacityPlan extends fc.Arbitrary<infer T> ? T : never;
interface Simulation {
  rules: CapacityRules;
  plan: CapacityPlan;
  state: ClusterState;
  nowMs: number;
  cloud: Cloud;
  effects: Launch[];
  launches: number;
  /** When the current wait for capacity began, by the oracle's own clock. */
  waitingSinceMs: number | null;
  /** From now on, time advances from one wake-up to the next. */
  byWakes: boolean;
  met: Met<CapacitySubject>;
}

function runSimulation(rules: CapacityRules, plan: CapacityPlan, met: Met<CapacitySubject>): void {
  const machines: MachineSettings = {
    workerTypes: types,
    headTypes: types,
    architecture: 'x86_64',
    spotPolicy: plan.spotPolicy,
    region: 'r',
    zones,
    allowCrossZone: plan.allowCrossZone,
    diskGib: 30,
    ...(plan.waitMs === undefined ? {} : { waitForCapacityMs: plan.waitMs }),
  };
  const settings = {
    name: 'simulated',
    job: plan.job ? 7 : null,
    instances: plan.instances,
    provider: 'aws',
    providerQueue: 'provider/aws',
    instanceVcpus: 1,
    registerTimeoutMs,
    machines,
    dask: null,
  };
  const room = new Map(pools.map((pool, at) => [pool, plan.room[at] ?? 0]));
  const state = rules.createClusterState({ number: 7, workspace: 'w', user: 'u', createdAtMs: 1_000 }, settings);
  const cloud: Cloud = { room, failedMs: new Map(), quota: plan.quota, born: 0 };
  const books = { cloud, effects: [], launches: 0, waitingSinceMs: null, byWakes: false };
  const sim: Simulation = { rules, plan, state, nowMs: 1_000, ...books, met };
  decide(sim);
  for (const each of plan.steps) {
    take(sim, each);
    decide(sim);
  }
  endGame(sim);
}

function take(sim: Simulation, each: typeof step extends fc.Arbitrary<infer T> ? T : never): void {
  const { rules, state } = sim;
  if (each.do === 'answer') return answerAll(sim);
  if (each.do === 'wake') {
    const { wakeAtMs } = rules.planCluster(state, sim.nowMs);
    // All instances register in this simulation: cluster-simulation.ts covers the register timeout.
    if (wakeAtMs !== null && wakeAtMs < registerTimeoutMs) sim.nowMs = wakeAtMs;
  }
  if (each.do === 'fill') sim.cloud.room.set(pools[each.pool] ?? '', each.room);
  if (each.do === 'register') registerAll(sim);
  if (each.do === 'wait') sim.nowMs += each.ms;
  if (each.do === 'scale') rules.scaleCluster(state, each.to, sim.nowMs);
  if (each.do === 'continue as new') sim.state = JSON.parse(JSON.stringify(state));
}

/** The workflow's steps at a wake-up. */
function decide(sim: Simulation): Plan {
  const { rules, state, nowMs } = sim;
  const givenUp = givenUpSlots(state).length;
  rules.watchCapacity(state, nowMs);
  const once = JSON.stringify(state);
  rules.watchCapacity(state, nowMs);
  must(once === JSON.stringify(state), () => 'watching twice makes a difference');
  checkGivenUp(sim, givenUpSlots(state).length - givenUp);
  const plan = rules.planCluster(state, nowMs);
  for (const decision of plan.decisions) {
    rules.intend(state, decision, nowMs);
    if (decision.kind === 'launch') asked(sim, decision);
    if (decision.kind === 'terminate') rules.applyTerminated(state, decision.ids, nowMs);
  }
  noteWait(sim);
  return rules.planCluster(state, nowMs);
}

/** No launch requests a pool that failed recently, and no launch follows a stop. */
function asked(sim: Simulation, launch: Launch): void {
  const { state, nowMs, plan } = sim;
  must(state.stopRequested === null, () => 'launches after a stop');
  sim.launches += 1;
  sim.effects.push(launch);
  const leastMs = plan.waitMs === undefined ? unavailableOfferMs : minCapacityPauseMs * 0.75;
  for (const pool of poolsOf(launch)) {
    const failedMs = sim.cloud.failedMs.get(pool);
    must(failedMs === undefined || nowMs >= failedMs + leastMs, () => `${pool} is asked again too soon`);
  }
}

function answerAll(sim: Simulation): void {
  const launches = sim.effects;
  sim.effects = [];
  for (const launch of launches) {
    sim.rules.applyLaunch(sim.state, launch.seq, outcomeOf(sim.cloud, launch, sim.nowMs), sim.nowMs);
  }
}

function registerAll({ rules, state, nowMs }: Simulation): void {
  for (const { id } of state.instances.filter((each) => each.state === 'starting')) {
    rules.applyReport(state, { instance: id, bootId: id, kind: 'register', address: 'a' }, nowMs);
  }
}

const givenUpSlots = (state: ClusterState): string[] =>
  Object.entries(state.slots).flatMap(([slot, { givenUp }]) => (givenUp === null ? [] : [slot]));

function checkGivenUp(sim: Simulation, count: number): void {
  const { plan, state, nowMs, waitingSinceMs } = sim;
  if (count === 0) return;
  must(plan.waitMs !== undefined, () => 'slots were given up without a time limit');
  must(waitingSinceMs !== null && nowMs >= waitingSinceMs + plan.waitMs, () => 'slots were given up too soon');
  must(!sim.byWakes || nowMs === waitingSinceMs + plan.waitMs, () => 'slots were given up too late');
  must(!state.waiting, () => 'waits on for what was given up');
  const [reason] = Object.values(state.slots).flatMap(({ givenUp }) => (givenUp === null ? [] : [givenUp]));
  must(reason?.code === 'NO_CAPACITY' && reason.text.includes('short of it'), () => 'given up without the reasons');
  sim.met(state.instances.length > 0 ? 'part given up' : 'all given up');
}

function noteWait(sim: Simulation): void {
  const { state, nowMs, plan } = sim;
  if (!state.waiting || state.stopRequested !== null) {
    sim.waitingSinceMs = null;
    return;
  }
  sim.waitingSinceMs ??= nowMs;
  must(state.waiting.sinceMs === sim.waitingSinceMs, () => 'a wait forgets when it began');
  sim.met(plan.waitMs === undefined ? 'waits without' : 'waits with a time');
  if (state.launches.length > 0) return;
  must(state.waiting.nextTryMs - nowMs <= maxCapacityPauseMs * 1.25, () => 'the next try is too far');
  const wakeAtMs = sim.rules.planCluster(state, nowMs).wakeAtMs;
  must(wakeAtMs !== null && wakeAtMs > nowMs, () => 'it waits, and nothing wakes it');
}

/** From any state: the cloud has no capacity for hours, or plenty from now on, or a user stops the cluster. */
function endGame(sim: Simulation): void {
  const { plan, rules } = sim;
  if (plan.end === 'stop') return endByStop(sim);
  for (const pool of pools) sim.cloud.room.set(pool, plan.end === 'plenty' ? 100 : 0);
  const startedMs = sim.nowMs;
  const launchesBefore = sim.launches;
  const untilMs = startedMs + (plan.waitMs ?? 0) + 1_800_000;
  let readyMs: number | null = null;
  for (let round = 0; ; round += 1) {
    must(round < 5_000, () => 'it never rests');
    answerAll(sim);
    registerAll(sim);
    const { wakeAtMs, done } = decide(sim);
    if (rules.clusterStatus(sim.state) === 'ready') readyMs ??= sim.nowMs;
    if (done || (sim.effects.length === 0 && (wakeAtMs === null || wakeAtMs > untilMs))) break;
    if (sim.effects.length === 0) sim.nowMs = wakeAtMs ?? sim.nowMs;
    sim.byWakes = true;
  }
  const { state } = sim;
  const tries = sim.launches - launchesBefore;
  const hours = (sim.nowMs - startedMs) / 3_600_000;
  // Two markets per attempt, and the attempts of the first minutes.
  must(tries <= 2 * (hours * 20 + 16), () => `${tries} launches in ${hours} h`);
  if (plan.end === 'plenty') {
    const isEnded = state.stopRequested !== null || givenUpSlots(state).length > 0;
    must(
      isEnded || (!state.waiting && rules.clusterStatus(state) === 'ready'),
      () => 'there is plenty, and it waits on',
    );
    const patientMs = maxCapacityPauseMs * 1.25 + 70_000;
    const noticedMs = (readyMs ?? sim.nowMs) - startedMs;
    must(noticedMs <= patientMs || isEnded, () => `it noticed after ${noticedMs / 3_600_000} h`);
    if (!isEnded) sim.met('all there at last');
    return;
  }
  const missing = Array.from({ length: state.target }, (_, slot) => slot).filter(
    (slot) => !state.instances.some((each) => each.slot === slot),
  );
  if (missing.length === 0 || state.stopRequested !== null) return checkEnd(sim);
  must(
    plan.waitMs === undefined
      ? Boolean(state.waiting) && tries > hours * 10
      : missing.every((slot) => Boolean(state.slots[slot]?.givenUp)),
    () => `after ${hours} h with nothing: ${JSON.stringify(state.waiting)}, ${tries} tries`,
  );
  must(plan.waitMs === undefined || rules.clusterStatus(state) === 'ready', () => 'what there is, is not called ready');
}

/** A cluster without any instance ends by itself and names the failed pools. */
function checkEnd({ state }: Simulation): void {
  const { stopRequested, instances } = state;
  if (stopRequested === null) return;
  must(same([stopRequested.code, instances.length], ['NO_INSTANCES', 0]), () => `it ended with ${stopRequested.code}`);
  must(stopRequested.text.includes('short of it'), () => 'it ended without the reasons');
}

function endByStop(sim: Simulation): void {
  const { rules, state } = sim;
  if (state.waiting) sim.met('stop while waiting');
  rules.stopCluster(state, { code: 'STOPPED', text: 'requested by a user', atMs: sim.nowMs });
  answerAll(sim);
  decide(sim);
  must(decide(sim).done, () => 'a stop does not end the wait');
}

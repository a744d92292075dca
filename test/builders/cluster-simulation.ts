// A simulation of one cluster: a provider with partial success, agents that register early, late, twice or never, suspects, scaling and stops at any
// moment. Each input is applied twice (cluster-inputs.ts), every plan is checked (cluster-checks.ts).
import fc from 'fast-check';

import type { ClusterState, FailureScope } from '../../domain/cluster/state.ts';
import { checkState, decide } from './cluster-checks.ts';
import {
  clusterSubjects,
  type ClusterSubject,
  type ClusterSimulation,
  inspected,
  interrupt,
  launched,
  outcomeOf,
  note,
  registerAll,
  stop,
  sendReport,
  terminated,
} from './cluster-inputs.ts';
import { endGame, silence } from './cluster-scenes.ts';
import type { ClusterRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must, pick, same } from './simulations.ts';

const registerTimeoutMs = 120_000;
const bornAtMs = 1_000_000;
/** Runs many simulations against the rules; throws when one breaks them. */
export function checkClusterSimulations(rules: ClusterRules, options: CheckOptions): Record<string, number> {
  const run = (plan: ClusterPlan, met: Met<ClusterSubject>): void => runClusterSimulation(rules, plan, met);
  return checkSimulations({ plan: clusterPlan, subjects: clusterSubjects, run }, options);
}

const scopes: FailureScope[] = ['offer', 'zone', 'quota', 'throttle', 'request', 'account'];
const step = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant('answer'),
      effect: fc.nat(3),
      how: fc.constantFrom('full', 'full', 'full', 'part', 'none', 'silent', 'doubled', 'rejected'),
      scope: fc.constantFrom(...scopes.slice(0, 4), ...scopes),
      link: fc.boolean(),
    }),
  },
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant('report'),
      instance: fc.nat(5),
      kind: fc.constantFrom('register', 'register', 'register', 'alive', 'leaving'),
      boot: fc.constantFrom('own', 'own', 'own', 'own', 'another'),
    }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('register all') }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('interrupt'),
      instance: fc.nat(5),
      inMs: fc.constantFrom(0, 20_000, 120_000),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('suspect'), which: fc.integer({ min: 1, max: 31 }) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, 5_000, 60_000, 700_000) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('wait for wake') }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('scale'), to: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('release'), which: fc.integer({ min: 1, max: 31 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop'), code: fc.constantFrom('JOB_OVER', 'STOPPED') }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('silence'),
      rounds: fc.integer({ min: 1, max: 5 }),
      apart: fc.boolean(),
      link: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('continue as new') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const clusterPlan = fc.record({
  instances: fc.integer({ min: 1, max: 5 }),
  job: fc.boolean(),
  steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
  end: fc.constantFrom('stop', 'healthy', 'never registers', 'dies young', 'ends early'),
});
type ClusterPlan = typeof clusterPlan extends fc.Arbitrary<infer T> ? T : never;

function runClusterSimulation(rules: ClusterRules, plan: ClusterPlan, met: Met<ClusterSubject>): void {
  const cluster = { number: 1, workspace: 'w', user: 'u', createdAtMs: bornAtMs };
  const settings = {
    name: 'simulated',
    job: plan.job ? 1 : null,
    instances: plan.instances,
    provider: 'local',
    providerQueue: 'local/test',
    instanceVcpus: 1,
    registerTimeoutMs,
    dask: null,
  };
  const sim: ClusterSimulation = {
    rules,
    state: rules.createClusterState(cluster, settings),
    nowMs: bornAtMs,
    effects: [],
    born: 0,
    stop: null,
    notified: new Set(),
    endJobs: 0,
    lost: new Set(),
    gone: new Set(),
    interrupted: new Map(),
    slotFailures: new Map(),
    givenUp: new Set(),
    canaryFromSeq: null,
    failedCanaries: 0,
    newestSeq: 0,
    met,
  };
  decide(sim);
  for (const each of plan.steps) {
    take(sim, each);
    decide(sim);
    checkState(sim);
  }
  endGame(sim, plan.end);
  if (sim.lost.size > 0) met('loss');
  if (sim.givenUp.size > 0) met('given up');
}

function take(sim: ClusterSimulation, each: Step): void {
  const { rules, state, nowMs } = sim;
  if (each.do === 'answer') return answer(sim, each);
  if (each.do === 'report') {
    const instance = pick(state.instances, each.instance);
    const bootId = `${each.boot}-${instance?.id}`;
    return sendReport(sim, { instance: instance?.id ?? 'i_stranger', bootId, kind: each.kind, address: 'a' });
  }
  if (each.do === 'register all') return registerAll(sim);
  if (each.do === 'interrupt') return interrupt(sim, pick(state.instances, each.instance), each.inMs);
  if (each.do === 'suspect') {
    const suspects = state.instances
      .filter((_, index) => (each.which >> index) % 2 === 1)
      .map((instance) => instance.id);
    if (each.which > 15) suspects.push('i_forgotten');
    // Some agents report between two suspicions, which begins a new silence.
    const heardAtMs = nowMs - (nowMs % 60_000);
    note(sim, (to) =>
      rules.suspectInstances(
        to,
        suspects.map((id) => ({ instance: id, heardAtMs })),
        nowMs,
      ),
    );
    // The suspect may belong to an unanswered launch; a job that refused it would refuse it forever.
    const isUnknown = suspects.includes('i_forgotten') && state.launches.length > 0;
    if (isUnknown) sim.met('suspected before its launch answered');
    const isReported = state.lostToReport.some(({ instance }) => instance === 'i_forgotten');
    return must(!isUnknown || !isReported, () => 'an instance that may be launching is reported lost');
  }
  if (each.do === 'wait') {
    sim.nowMs += each.ms;
    return;
  }
  if (each.do === 'wait for wake') {
    sim.nowMs = rules.planCluster(state, nowMs).wakeAtMs ?? nowMs;
    return;
  }
  if (each.do === 'scale') {
    if (state.stopRequested === null && each.to !== state.target) sim.met('scale');
    return note(sim, (to) => rules.scaleCluster(to, each.to, nowMs));
  }
  if (each.do === 'release') return releaseInstances(sim, each.which);
  if (each.do === 'stop') return stop(sim, each.code);
  if (each.do === 'silence') return silence(sim, each);
  const copy: ClusterState = JSON.parse(JSON.stringify(state));
  must(same(Object.keys(copy), Object.keys(state)), () => 'the state is not plain JSON');
  sim.state = copy;
}

/** The job releases instances, perhaps including the head or stopping instances; all other instances stay unchanged. */
function releaseInstances(sim: ClusterSimulation, which: number): void {
  const { rules, state, nowMs } = sim;
  const ids = state.instances.filter((_, index) => (which >> index) % 2 === 1).map((instance) => instance.id);
  const wanted = state.instances.filter(
    ({ id, slot, state: is }) => slot < state.target && is !== 'stopping' && !sim.interrupted.has(id),
  );
  const { target } = state;
  const before = histories(state);
  const placed = new Map(wanted.map(({ id, slot }) => [id, slot]));
  note(sim, (to) => rules.releaseInstances(to, ids, nowMs));
  moveHistories(sim, before);
  const mayGo = state.settings.job !== null && state.stopRequested === null;
  const going = wanted.filter(({ id, role }) => mayGo && role === 'worker' && ids.includes(id));
  if (going.length > 0) sim.met('released');
  must(state.target <= target - going.length, () => `the target went from ${target} to ${state.target}`);
  must(going.length > 0 || state.target === target, () => 'a smaller target, although no instance went');
  for (const instance of wanted) {
    if (instance.state === 'error') continue;
    must(instance.slot < state.target !== going.includes(instance), () => `${instance.id} in slot ${instance.slot}`);
    const own = before.get(placed.get(instance.id) ?? -1) ?? fresh;
    const now = histories(state).get(instance.slot) ?? fresh;
    must(own === now, () => `${instance.id} in slot ${instance.slot} has another history`);
  }
}

/** The recorded history of each slot without its generations, which stay with the slot. */
function histories({ slots }: ClusterState): Map<number, string> {
  const known = Object.entries(slots);
  return new Map(known.map(([slot, history]) => [Number(slot), JSON.stringify({ ...history, generations: 0 })]));
}

const fresh = JSON.stringify({ givenUp: null, generations: 0, failures: 0, lastFailureMs: 0, unregistered: 0 });

/** Moves the oracle's records with the histories; it does not distinguish two slots with the same history. */
function moveHistories(sim: ClusterSimulation, before: Map<number, string>): void {
  const { slotFailures, givenUp } = sim;
  const left = new Map(before);
  sim.slotFailures = new Map();
  sim.givenUp = new Set();
  for (const [slot, history] of histories(sim.state)) {
    const from = left.get(slot) === history ? slot : [...left].find(([, each]) => each === history)?.[0];
    if (from === undefined) continue;
    left.delete(from);
    sim.slotFailures.set(slot, slotFailures.get(from) ?? 0);
    if (givenUp.has(String(from))) sim.givenUp.add(String(slot));
  }
  const lost = [...left].filter(([, history]) => history !== fresh);
  must(lost.length === 0, () => `the history of slot ${lost[0]?.[0]} is lost`);
}

interface How {
  effect: number;
  how: string;
  scope: FailureScope;
  link: boolean;
}

function answer(sim: ClusterSimulation, { effect: nth, how, scope, link }: How): void {
  const effect = pick(sim.effects, nth);
  if (effect === undefined) return;
  if (effect.kind === 'launch') return launched(sim, effect, outcomeOf(sim, effect, how, scope));
  if (effect.kind === 'terminate') return terminated(sim, effect);
  const states = { part: 'gone', none: 'unknown' } as const;
  const seen = effect.ids.map((id, index) => ({
    id,
    state: (how === 'part' || how === 'none') && index === 0 ? states[how] : ('alive' as const),
  }));
  if (!link) sim.met('outage');
  inspected(sim, effect, { seen, linkWorks: link, heard: [], listeningMs: 3_600_000 });
}

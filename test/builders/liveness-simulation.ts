// A simulated cluster of a job with agents that report to the API and instances that die, hang, or disappear from the cloud's list. The API fails and
// recovers. The oracle knows which instances live and report, and counts the calls to the cloud.
import fc from 'fast-check';

import type { Decision } from '../../domain/cluster/plan.ts';
import type { ClusterInstance, ClusterState } from '../../domain/cluster/state.ts';
import { maxSilentInspections } from '../../domain/cluster/limits.ts';
import { aliveEveryMs, silentAfterMs } from '../../domain/liveness/limits.ts';
import type { ClusterRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must, pick } from './simulations.ts';

export const livenessSubjects = [
  'gone',
  'forgotten',
  'hung',
  'many hung at once',
  'heard again',
  'outage',
  'outage of its database',
  'suspected by its job',
  'calm',
] as const;
type LivenessSubject = (typeof livenessSubjects)[number];

/** Runs many simulations against the rules; throws when one breaks them. */
export function checkLivenessSimulations(rules: ClusterRules, options: CheckOptions): Record<string, number> {
  const run = (plan: LivenessPlan, met: Met<LivenessSubject>): void => runSimulation(rules, plan, met);
  return checkSimulations({ plan: livenessPlan, subjects: livenessSubjects, run }, options);
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('live'), minutes: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('outage'), minutes: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unwritten'), minutes: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('mute'), instance: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mute all') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('unmute'), instance: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('die'), instance: fc.nat(5), forgotten: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('suspect'), instance: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('continue as new') }) },
);
const livenessPlan = fc.record({
  instances: fc.integer({ min: 1, max: 5 }),
  steps: fc.array(step, { minLength: 3, maxLength: 14, size: 'max' }),
});
type LivenessPlan = typeof livenessPlan extends fc.Arbitrary<infer T> ? T : never;

interface Simulation {
  rules: ClusterRules;
  state: ClusterState;
  nowMs: number;
  born: number;
  /** The API's records: when each agent last reported, and when its silence is due. */
  rows: Map<string, { heardAtMs: number; sinceMs: number; dueAtMs: number }>;
  /** What the API has heard and could not write: when each agent last reported. */
  unwritten: Map<string, number>;
  /** Null while the API is down. */
  upSinceMs: number | null;
  /** Null while the API cannot write its records; it still answers. */
  writingSinceMs: number | null;
  dead: Map<string, 'gone' | 'forgotten'>;
  mute: Set<string>;
  inspections: number;
  met: Met<LivenessSubject>;
}

const bornAtMs = 1_000_000;
const minuteMs = 60_000;
const remindMs = 60 * minuteMs;

function runSimulation(rules: ClusterRules, { instances, steps }: LivenessPlan, met: Simulation['met']): void {
  const settings = {
    ...{ name: 'simulated', job: 7, instances, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
    ...{ registerTimeoutMs: 1e12, dask: null },
  };
  const sim: Simulation = {
    rules,
    state: rules.createClusterState({ number: 7, workspace: 'w', user: 'u', createdAtMs: bornAtMs }, settings),
    ...{ nowMs: bornAtMs, born: 0, inspections: 0, met, upSinceMs: bornAtMs, writingSinceMs: bornAtMs },
    ...{ rows: new Map(), unwritten: new Map(), dead: new Map(), mute: new Set() },
  };
  live(sim, minuteMs);
  for (const each of steps) take(sim, each);
  endGame(sim);
}

function take(sim: Simulation, each: typeof step extends fc.Arbitrary<infer T> ? T : never): void {
  const { rules, state, dead, mute, nowMs } = sim;
  if (each.do === 'live') return live(sim, each.minutes * minuteMs);
  if (each.do === 'outage') {
    sim.upSinceMs = null;
    live(sim, each.minutes * minuteMs);
    sim.upSinceMs = sim.nowMs;
    return sim.met('outage');
  }
  if (each.do === 'unwritten') {
    sim.writingSinceMs = null;
    live(sim, each.minutes * minuteMs);
    sim.writingSinceMs = sim.nowMs;
    for (const [id, heardAtMs] of sim.unwritten) write(sim, id, heardAtMs);
    sim.unwritten.clear();
    return sim.met('outage of its database');
  }
  if (each.do === 'mute all') for (const { id } of ready(state)) mute.add(id);
  if (each.do === 'continue as new') sim.state = JSON.parse(JSON.stringify(state));
  if (!('instance' in each)) return;
  const instance = pick(ready(state), each.instance);
  if (instance === undefined || dead.has(instance.id)) return;
  const { id } = instance;
  if (each.do === 'mute') mute.add(id);
  if (each.do === 'unmute' && mute.delete(id)) sim.met('heard again');
  if (each.do === 'die') dead.set(id, each.forgotten ? 'forgotten' : 'gone');
  if (each.do !== 'suspect') return;
  sim.met('suspected by its job');
  rules.suspectInstances(state, [{ instance: id, heardAtMs: nowMs - minuteMs }], nowMs);
  // The suspicion has a lease: the API does not suspect the instance again before it expires.
  live(sim, 90_000);
}

const ready = ({ instances }: ClusterState): ClusterInstance[] => instances.filter(({ state }) => state === 'ready');

/** Time passes: agents report, the API searches for silent agents, and the cluster wakes at its planned time. */
function live(sim: Simulation, ms: number): void {
  const endMs = sim.nowMs + ms;
  while (sim.nowMs < endMs) {
    speak(sim);
    checkApi(sim);
    const wakeAtMs = decide(sim) ?? endMs;
    sim.nowMs = Math.min(endMs, wakeAtMs > 1e11 ? endMs : wakeAtMs, sim.nowMs + aliveEveryMs / 2);
  }
  speak(sim);
  decide(sim);
}

function speak(sim: Simulation): void {
  const { rules, state, rows, unwritten, dead, mute, nowMs, upSinceMs, writingSinceMs } = sim;
  if (upSinceMs === null) return;
  for (const { id, state: is } of state.instances) {
    if (dead.has(id) || mute.has(id)) continue;
    const register = { instance: id, bootId: id, kind: 'register', address: 'a' } as const;
    if (is === 'starting') rules.applyReport(state, register, nowMs);
    const heardAtMs = unwritten.get(id) ?? rows.get(id)?.heardAtMs;
    if (heardAtMs !== undefined && nowMs < heardAtMs + aliveEveryMs) continue;
    if (writingSinceMs === null) unwritten.set(id, nowMs);
    else write(sim, id, nowMs);
  }
}

function write({ rows }: Simulation, id: string, heardAtMs: number): void {
  rows.set(id, { heardAtMs, sinceMs: rows.get(id)?.sinceMs ?? heardAtMs, dueAtMs: heardAtMs + silentAfterMs });
}

/** As services/liveness/round.ts does. */
function checkApi(sim: Simulation): void {
  const { rules, state, rows, nowMs } = sim;
  if (listeningMs(sim) < silentAfterMs) return;
  const counted = new Set(ready(state).map(({ id }) => id));
  const silent = [...rows].filter(([id, { dueAtMs }]) => dueAtMs <= nowMs && counted.has(id));
  for (const [, row] of silent) row.dueAtMs = nowMs + remindMs;
  if (silent.length === 0) return;
  const suspects = silent.map(([instance, { heardAtMs }]) => ({ instance, heardAtMs }));
  rules.suspectInstances(state, suspects, nowMs);
  const once = JSON.stringify({ ...state, events: [], history: null });
  rules.suspectInstances(state, suspects, nowMs);
  must(once === JSON.stringify({ ...state, events: [], history: null }), () => 'suspected twice is not suspected once');
}

/** For how long the API has heard agents and written its records without a gap. */
const listeningMs = ({ upSinceMs, writingSinceMs, nowMs }: Simulation): number =>
  upSinceMs === null || writingSinceMs === null ? 0 : nowMs - Math.max(upSinceMs, writingSinceMs);

/** Carries out all decisions; returns when the plan wakes next. */
function decide(sim: Simulation): number | null {
  const { rules, state, nowMs } = sim;
  for (;;) {
    const plan = rules.planCluster(state, nowMs);
    for (const decision of plan.decisions) {
      rules.intend(state, decision, nowMs);
      if (decision.kind === 'inspect') answer(sim, decision);
      if (decision.kind === 'terminate') rules.applyTerminated(state, decision.ids, nowMs);
      if (decision.kind !== 'launch') continue;
      const slots = decision.slots.map(({ slot }) => ({ id: `i-${(sim.born += 1)}`, slot, offer: 'm', zone: 'a' }));
      rules.applyLaunch(state, decision.seq, { launched: slots, failures: [] }, nowMs);
    }
    if (plan.decisions.length > 0) continue;
    must(plan.wakeAtMs === null || plan.wakeAtMs > nowMs, () => 'it wakes in the past');
    return plan.wakeAtMs;
  }
}

/** The cloud and the API answer truthfully, and no instance with a reporting agent may be lost. */
function answer(sim: Simulation, { ids }: Extract<Decision, { kind: 'inspect' }>): void {
  const { rules, state, dead, mute, rows, nowMs, upSinceMs } = sim;
  sim.inspections += 1;
  must(state.stopRequested === null, () => 'asks after a stop');
  const words = { gone: 'gone', forgotten: 'unknown', alive: 'alive' } as const;
  const seen = ids.map((id) => ({ id, state: words[dead.get(id) ?? 'alive'] }));
  const heard = [...rows].flatMap(([instance, row]) => (ids.includes(instance) ? [{ instance, ...row }] : []));
  const inspection = { seen, linkWorks: upSinceMs !== null, heard, listeningMs: listeningMs(sim) };
  const before = new Set(ready(state).map(({ id }) => id));
  rules.applyInspection(state, inspection, nowMs);
  const once = JSON.stringify(state);
  rules.applyInspection(state, inspection, nowMs);
  must(once === JSON.stringify(state), () => 'a repeated input changed the state');
  for (const instance of state.instances) {
    const { id } = instance;
    if (instance.state !== 'error' || !before.has(id)) continue;
    const death = dead.get(id);
    must(death !== undefined || mute.has(id), () => `${id} speaks and is lost: ${instance.reason.text}`);
    must(death === 'gone' || upSinceMs !== null, () => `${id} is lost to an outage of ours`);
    sim.met(death ?? 'hung');
  }
  if (state.alarm !== null) sim.met('many hung at once');
}

/** The API stays up: a dead or hung instance is detected in time, and no further calls follow. */
function endGame(sim: Simulation): void {
  const { dead, mute } = sim;
  // A restarted API gives all agents time first. Then follow three inspections, the first after one silence.
  const withinMs = (maxSilentInspections + 2) * silentAfterMs + 2 * minuteMs;
  live(sim, withinMs);
  const { state } = sim;
  if (state.stopRequested !== null) return;
  const kept = ready(state).filter(({ id }) => dead.has(id));
  must(kept.length === 0, () => `${kept.map(({ id }) => id).join()} is dead, and was not noticed`);
  const hung = ready(state).filter(({ id }) => mute.has(id));
  must(hung.length === 0 || state.alarm !== null, () => `${hung.length} have hung, and no alarm was raised`);
  mute.clear();
  live(sim, withinMs);
  must(sim.state.alarm === null, () => 'the alarm goes on though all are heard again');
  if (sim.state.stopRequested !== null) return;
  const { inspections } = sim;
  calmDay(sim);
  sim.met('calm');
  // One routine inspection of all instances every six hours, and a first one for the latest replacements.
  must(sim.inspections - inspections <= 5, () => `asked ${sim.inspections - inspections} times in a calm day`);
}

/** All agents report in time: only the plan's own wake-ups matter. */
function calmDay(sim: Simulation): void {
  const endMs = sim.nowMs + 24 * 60 * minuteMs;
  while (sim.nowMs < endMs) {
    sim.nowMs = Math.min(endMs, decide(sim) ?? endMs);
    speak(sim);
    decide(sim);
  }
}

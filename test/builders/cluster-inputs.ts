// The inputs of a simulated cluster: outcomes, reports, inspections. Each input is applied twice, and in another order where order must not matter:
// the state must be the same.
import type { LaunchOutcome, Report } from '../../domain/cluster/apply.ts';
import { endReason } from '../../domain/cluster/instance/transitions.ts';
import type { Inspection } from '../../domain/cluster/instance/suspicion.ts';
import { maxNeverRegistered, maxSlotFailures, slotFailureWindowMs } from '../../domain/cluster/limits.ts';
import { notWanted, type Decision } from '../../domain/cluster/plan.ts';
import type { ClusterInstance, ClusterState, FailureScope } from '../../domain/cluster/state.ts';
import type { ClusterRules } from './rules.ts';
import { type Met, must } from './simulations.ts';

export const clusterSubjects = [
  'loss',
  'stop',
  'partial launch',
  'never registered',
  'ended while starting',
  'refused launch',
  'given up',
  'scale',
  'outage',
  'mass silence',
  'released',
  'interrupted',
  'terminated by the cloud',
  'paused',
  'suspected before its launch answered',
  'canary launch',
  'given up after canary launches',
] as const;
export type ClusterSubject = (typeof clusterSubjects)[number];

export type Effect = Extract<Decision, { kind: 'launch' | 'terminate' | 'inspect' }>;

export interface ClusterSimulation {
  rules: ClusterRules;
  state: ClusterState;
  nowMs: number;
  /** Decided and not answered yet. */
  effects: Effect[];
  born: number;
  stop: string | null;
  /** The lost instances of which the job was notified. */
  notified: Set<string>;
  endJobs: number;
  lost: Set<string>;
  /** Instances that the provider reported as terminated before they registered. */
  gone: Set<string>;
  /** Interrupted workers, and when the cloud terminates each. */
  interrupted: Map<string, number>;
  /** The failures of each slot that its own instances caused. */
  slotFailures: Map<number, number>;
  givenUp: Set<string>;
  /** The sequence number of the first launch since instances stopped registering; null after a registration. */
  canaryFromSeq: number | null;
  /** Canaries launched since then that failed to register too. */
  failedCanaries: number;
  newestSeq: number;
  met: Met<ClusterSubject>;
}

export function stop(sim: ClusterSimulation, code: string): void {
  if (sim.state.stopRequested === null) sim.met('stop');
  note(sim, (to) => sim.rules.stopCluster(to, { code, text: 'requested by a user', atMs: sim.nowMs }));
}

/** Partial success is the normal case. `silent` returns no reason for the missing instances; `doubled` gives one slot two instances. */
export function outcomeOf(
  sim: ClusterSimulation,
  effect: Extract<Effect, { kind: 'launch' }>,
  how: string,
  scope: FailureScope,
): LaunchOutcome {
  const count = { part: effect.slots.length - 1, none: 0, silent: 0, rejected: 0 }[how] ?? effect.slots.length;
  const slots = effect.slots.slice(0, count).map((order) => order.slot);
  if (how === 'doubled') slots.push(slots[0] ?? 0);
  const missing = how === 'silent' ? 0 : Math.max(0, effect.slots.length - slots.length);
  if (count > 0 && missing > 0) sim.met('partial launch');
  const rejected = how === 'rejected' ? 'request' : scope;
  if (missing > 0 && (rejected === 'request' || rejected === 'account')) sim.met('refused launch');
  return {
    launched: slots.map((slot) => ({ id: `i_${(sim.born += 1)}`, slot, offer: 'local', zone: 'here' })),
    failures:
      missing === 0
        ? []
        : [{ offer: 'local', zone: 'here', market: 'spot', code: 'NO', scope: rejected, text: 'no', count: missing }],
  };
}

export function launched(
  sim: ClusterSimulation,
  effect: Extract<Effect, { kind: 'launch' }>,
  outcome: LaunchOutcome,
): void {
  finish(sim, effect);
  note(sim, (to) => sim.rules.applyLaunch(to, effect.seq, outcome, sim.nowMs));
}

export function terminated(sim: ClusterSimulation, effect: Extract<Effect, { kind: 'terminate' }>): void {
  finish(sim, effect);
  const { state } = sim;
  const isSilent = (instance: ClusterInstance): boolean =>
    effect.ids.includes(instance.id) &&
    instance.agent === null &&
    endReason(instance)?.code !== notWanted &&
    instance.slot < state.target;
  const silent = state.stopRequested === null ? state.instances.filter(isSilent) : [];
  const tried = silent.filter(({ launchSeq }) => launchSeq >= (sim.canaryFromSeq ?? Number.POSITIVE_INFINITY)).length;
  sim.failedCanaries = sim.canaryFromSeq === null ? 0 : sim.failedCanaries + tried;
  if (silent.length > 0) sim.canaryFromSeq ??= state.nextLaunchSeq;
  for (const instance of state.instances) {
    if (effect.ids.includes(instance.id) && endReason(instance)?.code === notWanted) resetFailureStreak(sim, instance);
  }
  // Whatever the reason of the termination, a job may have counted on the instance.
  for (const { id, agent } of state.stopRequested === null ? state.instances : []) {
    if (effect.ids.includes(id) && agent !== null) sim.lost.add(id);
  }
  const copy: ClusterState = JSON.parse(JSON.stringify(sim.state));
  note(sim, (to) => sim.rules.applyTerminated(to, effect.ids, sim.nowMs));
  sim.rules.applyTerminated(copy, effect.ids.toReversed(), sim.nowMs);
  must(quiet(copy) === quiet(sim.state), () => 'the order of terminated instances makes a difference');
  const areEarly = silent.every(({ id }) => sim.gone.has(id));
  if (silent.length === 0 || sim.failedCanaries < (areEarly ? maxSlotFailures : maxNeverRegistered) - 1) return;
  const asked = [...state.instances, ...state.launches.flatMap(({ slots }) => slots.map((slot) => ({ slot })))];
  for (let slot = 0; slot < state.target; slot += 1) {
    const isThere = asked.some((each) => each.slot === slot) || Boolean(state.slots[slot]?.givenUp);
    must(isThere, () => `slot ${slot} is still wanted after ${sim.failedCanaries} that never registered`);
  }
}

export function inspected(
  sim: ClusterSimulation,
  effect: Extract<Effect, { kind: 'inspect' }>,
  inspection: Inspection,
): void {
  finish(sim, effect);
  const before = sim.state.instances.filter((instance) => instance.state === 'error').length;
  const starting = sim.state.instances.filter((instance) => instance.state === 'starting').map(({ id }) => id);
  const copy: ClusterState = JSON.parse(JSON.stringify(sim.state));
  note(sim, (to) => sim.rules.applyInspection(to, inspection, sim.nowMs));
  sim.rules.applyInspection(copy, { ...inspection, seen: inspection.seen.toReversed() }, sim.nowMs);
  must(quiet(copy) === quiet(sim.state), () => 'the order of inspected instances makes a difference');
  const lost = sim.state.instances.filter((instance) => instance.state === 'error').length - before;
  for (const { id, state } of inspection.seen) {
    if (state !== 'gone' || !starting.includes(id)) continue;
    sim.gone.add(id);
    sim.met('ended while starting');
    const found = sim.state.instances.find((each) => each.id === id);
    must(found?.state === 'error', () => `${id} has ended and is waited for`);
  }
  const gone = inspection.seen.filter((seen) => seen.state === 'gone').length;
  must(inspection.linkWorks || lost <= gone, () => 'an outage of ours lost an instance');
}

function finish(sim: ClusterSimulation, effect: Effect): void {
  sim.effects = sim.effects.filter((each) => each !== effect);
}

/** Agents register in any order with the same outcome. */
export function registerAll(sim: ClusterSimulation): void {
  const starting = sim.state.instances.filter((instance) => instance.state === 'starting');
  const copy: ClusterState = JSON.parse(JSON.stringify(sim.state));
  for (const instance of starting) sendReport(sim, registration(instance));
  for (const instance of starting.toReversed()) sim.rules.applyReport(copy, registration(instance), sim.nowMs);
  must(quiet(copy) === quiet(sim.state), () => 'the order of registrations makes a difference');
}

/** The cloud interrupts an instance. The worker no longer claims its slot, however often the interruption is reported. */
export function interrupt(sim: ClusterSimulation, instance: ClusterInstance | undefined, inMs: number): void {
  if (instance === undefined || instance.agent === null || instance.state === 'stopping') return;
  const atMs = sim.interrupted.get(instance.id) ?? sim.nowMs + inMs;
  const interruption = { kind: 'terminate', at: new Date(atMs).toISOString() } as const;
  if (instance.role === 'worker') {
    sim.interrupted.set(instance.id, Math.max(atMs, sim.nowMs));
    sim.met('interrupted');
  }
  sendReport(sim, { instance: instance.id, bootId: instance.agent?.bootId, kind: 'alive', address: 'a', interruption });
  resetFailureStreak(sim, instance);
}

/** An instance that has worked long enough ends the failure streak of its slot, unless another failure is about to be counted. */
function resetFailureStreak(
  { state, nowMs, slotFailures }: ClusterSimulation,
  { id, slot, agent }: ClusterInstance,
): void {
  const history = state.slots[slot];
  const lastFailureMs = history?.givenUp === null ? history.lastFailureMs : 0;
  const registeredAtMs = agent?.registeredAtMs ?? null;
  if (registeredAtMs === null || nowMs - registeredAtMs < slotFailureWindowMs || lastFailureMs > registeredAtMs) return;
  const isOther = state.instances.some((each) => each.id !== id && each.slot === slot && each.state === 'stopping');
  if (!isOther) slotFailures.set(slot, 0);
}

function registration(instance: ClusterInstance): Report {
  return { instance: instance.id, bootId: `own-${instance.id}`, kind: 'register', address: 'a' };
}

/** Sends a report and checks the reply: only the first boot of a known instance that was not terminated is accepted. */
export function sendReport(sim: ClusterSimulation, report: Report): void {
  const { state, rules, nowMs } = sim;
  const known = state.instances.find((instance) => instance.id === report.instance);
  const isFirst = known?.state === 'starting' && report.kind === 'register';
  const isOurs =
    known !== undefined && known.state !== 'stopping' && (isFirst || known.agent?.bootId === report.bootId);
  const none = state.launches.length > 0 ? 'not yet known' : 'refused';
  const expected = isOurs ? 'accepted' : known === undefined ? none : 'refused';
  if (isOurs && isFirst) sim.canaryFromSeq = null;
  const before = JSON.stringify(state);
  const verdict = rules.applyReport(state, report, nowMs);
  must(verdict === expected, () => `${report.kind} of ${report.instance} was ${verdict}, should be ${expected}`);
  if (!isOurs) must(before === JSON.stringify(state), () => 'a refused report changed the state');
  note(sim, (to) => void rules.applyReport(to, report, nowMs), isOurs);
}

/** Applies each input twice; the second application must change nothing. */
export function note(sim: ClusterSimulation, apply: (to: ClusterState) => void, isRepeat = false): void {
  if (!isRepeat) apply(sim.state);
  const once = quiet(sim.state);
  apply(sim.state);
  must(once === quiet(sim.state), () => 'a repeated input changed the state');
}

/** The state without its log and without the order of the losses that the job is notified of. */
function quiet(state: ClusterState): string {
  const lostToReport = [...new Set(state.lostToReport.map((lost) => JSON.stringify(lost)))].toSorted();
  return JSON.stringify({ ...state, events: [], history: null, lostToReport });
}

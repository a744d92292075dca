// Invariants of a cluster's plans and state, after any sequence of inputs.
import type { Decision, Plan } from '../../domain/cluster/plan.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import {
  localSlotPausesMs,
  maxNeverRegistered,
  maxSlotFailures,
  interruptedGraceMs,
} from '../../domain/cluster/limits.ts';
import { checkHistory } from './history-checks.ts';
import type { ClusterSimulation } from './cluster-inputs.ts';
import { must } from './simulations.ts';

/** Plans, checks the plan, applies the intent of each decision, and plans again: the second plan must be empty. */
export function decide(sim: ClusterSimulation): Plan {
  const { rules, nowMs } = sim;
  const before = JSON.stringify(sim.state);
  const plan = rules.planCluster(sim.state, nowMs);
  must(before === JSON.stringify(sim.state), () => 'planning changed the state');
  const isEnding = plan.decisions.some(({ kind }) => kind === 'giveUp');
  for (const decision of plan.decisions) {
    checkDecision(sim, decision, isEnding);
    rules.intend(sim.state, decision, nowMs);
  }
  for (const decision of plan.decisions) keep(sim, decision);
  const again = rules.planCluster(sim.state, nowMs);
  must(again.decisions.length === 0, () => `decided again: ${JSON.stringify(again.decisions)}`);
  const nothingLeft = sim.state.instances.length === 0 && sim.state.launches.length === 0;
  must(again.done === (sim.state.stopRequested !== null && nothingLeft), () => `done is ${again.done}`);
  checkBounds(sim);
  checkHistory(sim.state, nowMs);
  checkFilled(sim);
  checkWake(sim, again);
  return again;
}

function checkDecision(sim: ClusterSimulation, decision: Decision, isEnding: boolean): void {
  const { state, nowMs } = sim;
  if (decision.kind === 'launch') {
    must(state.stopRequested === null, () => 'launches after a stop');
    must(nowMs >= (state.launchBackoff?.untilMs ?? 0), () => 'launches while backing off');
    must(decision.seq > sim.newestSeq, () => `launch ${decision.seq} is not new`);
    sim.newestSeq = decision.seq;
    for (const { slot, generation } of decision.slots) {
      const taken = [...claiming(sim), ...state.launches.flatMap((each) => each.slots.map((n) => ({ slot: n })))];
      must(!taken.some((each) => each.slot === slot), () => `slot ${slot} is taken`);
      must(slot < state.target, () => `slot ${slot} is beyond the target`);
      must(!sim.givenUp.has(String(slot)), () => `slot ${slot} was given up`);
      must(nowMs >= pausedUntilMs(state, slot), () => `slot ${slot} has no pause after its failures`);
      must(generation === (state.slots[slot]?.generations ?? 0) + 1, () => `generation ${generation} of slot ${slot}`);
    }
  }
  if (decision.kind === 'inspect') must(state.stopRequested === null, () => 'inspects after a stop');
  if (decision.kind !== 'terminate') return;
  must(new Set(decision.ids).size === decision.ids.length, () => 'terminates one instance twice');
  for (const id of decision.ids) {
    const instance = state.instances.find((each) => each.id === id);
    must(instance !== undefined && instance.state !== 'stopping', () => `terminates ${id} again`);
    const isOverdue = nowMs >= instance.launchedAtMs + state.settings.registerTimeoutMs;
    const isLate = instance.state === 'starting' && isOverdue;
    if (isLate) sim.met('never registered');
    const terminatesAtMs = sim.interrupted.get(id);
    if (terminatesAtMs !== undefined && instance.state === 'ready' && state.stopRequested === null) {
      const isTaken = nowMs >= terminatesAtMs + interruptedGraceMs;
      must(isTaken || isEnding, () => `${id} is ended before its cloud takes it`);
      if (isTaken && !isEnding) sim.lost.add(id);
      if (isTaken && !isEnding) sim.met('terminated by the cloud');
    }
    if (instance.state === 'error') sim.lost.add(id);
    // Only failures that an instance caused itself count against its slot.
    if (isLate || instance.state === 'error') {
      sim.slotFailures.set(instance.slot, (sim.slotFailures.get(instance.slot) ?? 0) + 1);
    }
  }
}

function keep(sim: ClusterSimulation, decision: Decision): void {
  if (decision.kind === 'notifyJob') for (const lost of decision.lost) sim.notified.add(lost.instance);
  else if (decision.kind === 'endJob') sim.endJobs += 1;
  else if (
    decision.kind !== 'giveUp' &&
    decision.kind !== 'drain' &&
    decision.kind !== 'hear' &&
    decision.kind !== 'readCharges'
  )
    sim.effects.push(decision);
}

/** Instances that hold their slot: all except interrupted workers. */
function claiming({ state, interrupted }: ClusterSimulation): ClusterState['instances'] {
  return state.instances.filter(({ id }) => !interrupted.has(id));
}

/** A slot pauses after a streak of failed instances. */
export function pausedUntilMs(state: ClusterState, slot: number): number {
  const history = state.slots[slot];
  if (history?.givenUp !== null) return 0;
  const { failures, lastFailureMs } = history;
  return failures === 0 ? 0 : lastFailureMs + (localSlotPausesMs[failures - 1] ?? Number.POSITIVE_INFINITY);
}

/** Every vacant slot that can be launched is launched at once, even while its former instance is still stopping. */
function checkFilled(sim: ClusterSimulation): void {
  const { state, nowMs } = sim;
  if (state.stopRequested !== null || nowMs < (state.launchBackoff?.untilMs ?? 0)) return;
  const asked = state.launches.flatMap((each) => each.slots);
  const taken = new Set([...claiming(sim).map(({ slot }) => slot), ...asked]);
  if (sim.canaryFromSeq !== null) return checkTried(sim, sim.canaryFromSeq, taken);
  for (let slot = 0; slot < state.target; slot += 1) {
    const isPaused = nowMs < pausedUntilMs(state, slot);
    if (isPaused) sim.met('paused');
    must(taken.has(slot) || isPaused || Boolean(state.slots[slot]?.givenUp), () => `slot ${slot} is left vacant`);
  }
  for (const { id, state: is } of state.instances) {
    const terminatesAtMs = sim.interrupted.get(id) ?? Number.POSITIVE_INFINITY;
    must(
      is === 'stopping' || nowMs < terminatesAtMs + interruptedGraceMs,
      () => `${id} is kept though it was interrupted`,
    );
  }
}

/**
 * While no instance registers, the plan launches one canary at a time, for a slot that is not paused. The other slots wait for the canary, but not
 * forever.
 */
function checkTried(sim: ClusterSimulation, fromSeq: number, taken: Set<number>): void {
  const { state, nowMs } = sim;
  const tried = [
    ...state.instances.filter(({ agent, launchSeq }) => agent === null && launchSeq >= fromSeq),
    ...state.launches.filter(({ seq }) => seq >= fromSeq).flatMap(({ slots }) => slots.map((slot) => ({ slot }))),
  ];
  must(new Set(tried.map(({ slot }) => slot)).size <= 1, () => 'several are tried at once though none registers');
  const vacant = Array.from({ length: state.target }, (_, slot) => slot).filter(
    (slot) => !taken.has(slot) && !state.slots[slot]?.givenUp,
  );
  if (vacant.length > 0 && tried.length > 0) sim.met('canary launch');
  const isPaused = vacant.some((slot) => nowMs < pausedUntilMs(state, slot));
  must(
    vacant.length === 0 || tried.length > 0 || isPaused,
    () => `slots ${vacant.join()} are left vacant, and none is tried`,
  );
}

/** Limits hold: at most one instance claims a slot, and stopping instances claim none. */
function checkBounds(sim: ClusterSimulation): void {
  const { state } = sim;
  const present = state.instances.filter((instance) => instance.state !== 'stopping');
  const live = present.filter(({ id }) => !sim.interrupted.has(id));
  const launching = state.launches.flatMap((launch) => launch.slots);
  const slots = [...live.map((instance) => instance.slot), ...launching];
  must(new Set(slots).size === slots.length, () => `slots ${String(slots)} are bound twice`);
  if (state.stopRequested !== null) must(present.length === 0, () => 'an instance lives on after a stop');
  else
    must(
      live.every((instance) => instance.slot < state.target),
      () => 'an instance beyond the target lives on',
    );
  must(
    present.every((instance) => instance.state !== 'error'),
    () => 'a lost instance is kept',
  );
  const within = launching.filter((slot) => slot < state.target).length;
  must(live.length + within <= Math.max(state.target, 0), () => 'more instances than asked for');
}

/** The passing of time alone changes nothing before the plan's own wake-up, and changes something at it. */
function checkWake(sim: ClusterSimulation, { wakeAtMs }: Plan): void {
  const decisionsAt = (atMs: number): number => sim.rules.planCluster(sim.state, atMs).decisions.length;
  if (wakeAtMs === null) return must(decisionsAt(sim.nowMs + 1e9) === 0, () => 'it will not wake for what is due');
  must(wakeAtMs > sim.nowMs, () => 'it wakes in the past');
  must(decisionsAt(wakeAtMs - 1) === 0, () => 'it wakes too late');
  must(decisionsAt(wakeAtMs) > 0, () => 'it wakes for nothing');
}

export function checkState(sim: ClusterSimulation): void {
  const { state, rules } = sim;
  must(state.launched - state.terminated === state.instances.length, () => 'instances are miscounted');
  const stop = state.stopRequested === null ? null : JSON.stringify(state.stopRequested);
  sim.stop ??= stop;
  must(sim.stop === stop, () => 'the reason of a stop changed');
  for (const [slot, history] of Object.entries(state.slots)) {
    const own = sim.slotFailures.get(Number(slot)) ?? 0;
    if (history.givenUp === null) {
      must(history.failures <= own, () => `slot ${slot} has ${history.failures} failures, ${own} of them its own`);
      must(!sim.givenUp.has(slot), () => `slot ${slot} came back`);
      must(history.failures < maxSlotFailures, () => `slot ${slot} is never given up`);
    } else {
      const { code } = history.givenUp;
      if (code === 'NEVER_REGISTERED' && own < maxNeverRegistered) sim.met('given up after canary launches');
      sim.givenUp.add(slot);
    }
  }
  if (rules.clusterStatus(state) === 'ready') must(isSettled(sim), () => 'called ready, but a slot is still to come');
}

/** Every slot has a ready instance or was given up. */
function isSettled(sim: ClusterSimulation): boolean {
  const { state } = sim;
  return Array.from({ length: state.target }, (_, slot) => slot).every(
    (slot) =>
      Boolean(state.slots[slot]?.givenUp) ||
      claiming(sim).some((instance) => instance.slot === slot && instance.state === 'ready'),
  );
}

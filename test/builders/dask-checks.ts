// Invariants of a Dask cluster's plans, after any sequence of inputs.
import type { Decision, Plan } from '../../domain/cluster/plan.ts';
import type { ClusterInstance, ClusterState } from '../../domain/cluster/state.ts';
import {
  checkOrders,
  type DaskSimulation,
  drainGraceMs,
  dueEnds,
  hasStarted,
  headOf,
  heardOf,
  isLive,
  noteProgress,
  quiet,
  registerTimeoutMs,
} from './dask-books.ts';
import { interruptedGraceMs } from '../../domain/cluster/limits.ts';
import { watchScaling } from './dask-scaling.ts';
import { checkHistory } from './history-checks.ts';
import { pausedUntilMs } from './cluster-checks.ts';
import { must } from './simulations.ts';

/** Runs the workflow's steps at a wake-up, checks each decision, and plans again: the second plan must be empty. */
export function decide(sim: DaskSimulation): Plan {
  const { rules, nowMs } = sim;
  checkNow(sim);
  watchScaling(sim, 'time', () => adapt(sim, sim.state, nowMs));
  const plan = rules.planCluster(sim.state, nowMs);
  const ends = plan.decisions.filter((decision) => decision.kind === 'giveUp');
  must(ends.length <= 1, () => 'it ends more than once');
  const hasEnded = sim.state.stopRequested !== null || ends.length > 0;
  for (const decision of plan.decisions) checkDecision(sim, decision, hasEnded);
  for (const decision of plan.decisions) {
    rules.intend(sim.state, decision, nowMs);
    if (decision.kind === 'launch' || decision.kind === 'terminate' || decision.kind === 'inspect') {
      sim.effects.push(decision);
    }
  }
  checkNow(sim);
  const asked = plan.decisions.find(({ kind }) => kind === 'hear');
  if (asked?.kind === 'hear') return hear(sim, asked.ids);
  const again = rules.planCluster(sim.state, nowMs);
  must(again.decisions.length === 0, () => `decided again: ${JSON.stringify(again.decisions)}`);
  const nothingLeft = sim.state.instances.length === 0 && sim.state.launches.length === 0;
  must(again.done === (sim.state.stopRequested !== null && nothingLeft), () => `done is ${again.done}`);
  checkRest(sim);
  checkHistory(sim.state, nowMs);
  checkWake(sim, again);
  return again;
}

/** The API returns when it last heard the head, and the cluster plans with that. */
function hear(sim: DaskSimulation, ids: string[]): Plan {
  must(sim.state.stopRequested === null, () => 'asks after the end');
  const { rules, state } = sim;
  const heard = heardOf(sim, ids);
  rules.applyHeard(state, heard);
  const once = quiet(state);
  rules.applyHeard(state, heard);
  must(once === quiet(state), () => 'the same answer twice made a difference');
  return decide(sim);
}

function adapt({ rules }: DaskSimulation, state: ClusterState, nowMs: number): void {
  if (state.dask !== null) rules.adaptNow(state, state.dask, nowMs);
}

function checkDecision(sim: DaskSimulation, decision: Decision, hasEnded: boolean): void {
  const { state, nowMs, books } = sim;
  if (decision.kind === 'launch') {
    must(!hasEnded, () => 'launches at or after the end');
    const head = decision.slots.find((order) => order.slot === 0);
    must(head === undefined || !books.schedulerStarted, () => 'launches another scheduler');
    for (const { slot, role } of decision.slots)
      must((role === 'head') === (slot === 0), () => `slot ${slot}: ${role}`);
  }
  if (decision.kind === 'inspect') must(!hasEnded, () => 'inspects at or after the end');
  if (decision.kind === 'inspect') sim.met('silence');
  if (decision.kind === 'drain') {
    must(!hasEnded, () => 'drains at or after the end');
    for (const { id, instance: name, worker, deadlineMs } of decision.drains) {
      const instance = state.instances.find((each) => each.id === name);
      must(instance !== undefined && hasStarted(instance), () => `drains ${name}, which has not started`);
      must(instance.slot > 0 && instance.role === 'worker', () => 'drains the head');
      const terminatesAtMs = books.interrupted.get(name);
      const isExtra = instance.slot >= state.target;
      must((isExtra || terminatesAtMs !== undefined) && !instance.agent?.drain, () => `drains ${name} for nothing`);
      must(worker === instance.agent?.process?.name, () => `drains ${worker} for ${name}`);
      must(id > books.newestDrain, () => `drain ${id} is not new`);
      const dueMs = Math.min(nowMs + sim.settings.drainTimeoutMs, terminatesAtMs ?? Number.POSITIVE_INFINITY);
      must(deadlineMs === dueMs, () => 'a drain with another deadline');
      books.newestDrain = id;
      books.drains.push({ id, instance: name, deadlineMs, outcome: null });
      sim.met('drain');
    }
  }
  if (decision.kind === 'giveUp') checkEnd(sim, decision.code);
  if (decision.kind !== 'terminate') return;
  for (const id of decision.ids) {
    const instance = state.instances.find((each) => each.id === id);
    must(instance !== undefined && isLive(instance), () => `terminates ${id} again`);
    if (!hasEnded) checkTermination(sim, instance);
  }
}

/** While the cluster lives, a terminated instance is lost, late, surplus and never started, or drained. */
function checkTermination({ state, nowMs, books, met }: DaskSimulation, instance: ClusterInstance): void {
  if (instance.state === 'error') return;
  const isLate = instance.state === 'starting' && nowMs >= instance.launchedAtMs + registerTimeoutMs;
  if (isLate) return;
  const terminatesAtMs = books.interrupted.get(instance.id) ?? Number.POSITIVE_INFINITY;
  if (nowMs >= terminatesAtMs + interruptedGraceMs) return;
  if (!instance.agent?.drain) {
    const isDouble = state.instances.some(
      (other) => other !== instance && other.slot === instance.slot && isLive(other),
    );
    must(instance.slot >= state.target || isDouble, () => `terminates ${instance.id} for nothing`);
    const head = headOf(state);
    const canDrain = head !== undefined && hasStarted(head);
    must(!hasStarted(instance) || !canDrain, () => `terminates ${instance.id} without a drain`);
    return;
  }
  const drain = books.drains.findLast((each) => each.instance === instance.id);
  must(drain !== undefined, () => `${instance.id} drains unasked`);
  if (drain.outcome !== null) return;
  must(nowMs >= drain.deadlineMs + drainGraceMs, () => `terminates ${instance.id} before its drain has ended`);
  met('drain past its deadline');
}

function checkEnd(sim: DaskSimulation, code: string): void {
  const { state, books, nowMs } = sim;
  if (code === 'SCHEDULER_LOST') {
    const head = headOf(state);
    must(books.schedulerStarted, () => 'a scheduler was lost that never started');
    must(head === undefined || head.state === 'error', () => 'the scheduler is still there');
    return sim.met('scheduler lost');
  }
  if (code === 'SCHEDULER_UNRESPONSIVE') {
    const { unansweredForMs } = books;
    const isDue = unansweredForMs !== null && unansweredForMs >= (sim.settings.unresponsiveTimeoutMs ?? 0);
    must(isDue, () => `unresponsive, when it was last said to be so for ${unansweredForMs}`);
    return sim.met('unresponsive too long');
  }
  if (code === 'START_FAILED') {
    must(!books.everStarted, () => 'a start failed that had succeeded');
    return sim.met('start failed');
  }
  const due = dueEnds(sim).filter((end) => end.code === code);
  const isDue = due.some(({ atMs, untilMs }) => nowMs >= atMs && nowMs < untilMs);
  must(isDue, () => `${code} at ${nowMs}, due ${JSON.stringify(due)}`);
  if (code === 'IDLE') sim.met('idle');
  if (code === 'NO_CLIENT') sim.met('no client');
  if (code === 'LIFETIME') sim.met('lifetime');
}

/** True at every moment, planned or not. */
export function checkNow(sim: DaskSimulation): void {
  const { state, books } = sim;
  noteProgress(sim);
  checkOrders(sim);
  const stop = state.stopRequested === null ? null : JSON.stringify(state.stopRequested);
  books.stop ??= stop;
  must(books.stop === stop, () => 'the reason of a stop changed');
  for (const instance of state.instances) {
    must((instance.role === 'head') === (instance.slot === 0), () => `${instance.role} in slot ${instance.slot}`);
    must(instance.role === 'worker' || !instance.agent?.drain, () => 'the head is drained');
  }
  must(state.target >= 1, () => 'a target without a head');
  must(state.launched - state.terminated === state.instances.length, () => 'instances are miscounted');
  must(state.dask?.schedulerAddress === null || books.schedulerStarted, () => 'an address without a scheduler');
}

/** True once every decision has been recorded. */
function checkRest(sim: DaskSimulation): void {
  const { state, nowMs, books } = sim;
  const live = state.instances.filter(isLive);
  if (state.stopRequested !== null) return must(live.length === 0, () => 'an instance lives on after the end');
  const claiming = live.filter(({ id }) => !books.interrupted.has(id));
  const slots = claiming.map((instance) => instance.slot);
  must(new Set(slots).size === slots.length, () => `slots ${String(slots)} are bound twice`);
  for (const instance of live) {
    must(instance.state !== 'error', () => 'a lost instance is kept');
    const drain = instance.agent?.drain ?? null;
    if (drain === null) must(instance.slot < state.target, () => `${instance.id} is extra and stays`);
    else
      must(
        drain.outcome === null && nowMs < drain.deadlineMs + drainGraceMs,
        () => `${instance.id} is empty and stays`,
      );
  }
  const held = state.instances.filter(({ id }) => !books.interrupted.has(id));
  const taken = new Set([...held.map(({ slot }) => slot), ...state.launches.flatMap((each) => each.slots)]);
  const isPausing = state.launchBackoff !== null && nowMs < state.launchBackoff.untilMs;
  // While no instance registers, only one canary runs at a time, and its slot may be paused.
  const isTried =
    state.canary !== undefined &&
    (state.launches.length > 0 ||
      state.instances.some(({ agent }) => agent === null) ||
      Object.keys(state.slots).some((slot) => nowMs < pausedUntilMs(state, Number(slot))));
  for (let slot = 0; slot < state.target && !isPausing && !isTried; slot += 1) {
    if (nowMs < pausedUntilMs(state, slot)) continue;
    must(taken.has(slot) || Boolean(state.slots[slot]?.givenUp), () => `slot ${slot} is left vacant`);
  }
  const isFilled = (slot: number): boolean =>
    Boolean(state.slots[slot]?.givenUp) ||
    claiming.some((each) => each.slot === slot && hasStarted(each) && !each.agent?.drain);
  const isSettled = Array.from({ length: state.target }, (_, slot) => slot).every(isFilled);
  must(isSettled || sim.rules.clusterStatus(state) !== 'ready', () => 'called ready, but a slot is still to come');
  must(!books.schedulerStarted || headOf(state) !== undefined, () => 'it goes on without its scheduler');
  const isDead = (books.unansweredForMs ?? 0) >= (sim.settings.unresponsiveTimeoutMs ?? Infinity);
  must(!isDead, () => `it goes on with a scheduler that has not answered for ${books.unansweredForMs}`);
  for (const { code, atMs, untilMs } of dueEnds(sim)) {
    // The cluster asks the API again later for a head that was not heard.
    const byMs = code === 'IDLE' || code === 'NO_CLIENT' ? Math.max(atMs, state.dask?.headAsked?.nextMs ?? 0) : atMs;
    must(nowMs < byMs || nowMs >= untilMs, () => `${code} was due at ${atMs}`);
    if (nowMs >= atMs) sim.met('unheard');
  }
}

/** The passing of time alone changes nothing before the plan's own wake-up. */
function checkWake(sim: DaskSimulation, { wakeAtMs }: Plan): void {
  const { rules, nowMs } = sim;
  must(wakeAtMs === null || wakeAtMs > nowMs, () => 'it wakes in the past');
  const untilMs = wakeAtMs === null ? nowMs + 1e9 : wakeAtMs - 1;
  const mayAdapt = sim.state.dask?.adaptive !== null;
  const copy: ClusterState = mayAdapt ? JSON.parse(quiet(sim.state)) : sim.state;
  if (mayAdapt) adapt(sim, copy, untilMs);
  must(copy.target === sim.state.target, () => 'it does not wake for adaptive scaling');
  must(rules.planCluster(copy, untilMs).decisions.length === 0, () => 'it sleeps through what is due');
}

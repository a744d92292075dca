// What must hold of a cluster's plans and state at any moment, whatever has happened before.
import type { Decision, Plan } from '../../domain/cluster/plan.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import {
  localSlotPausesMs,
  maxNeverRegistered,
  maxSlotFailures,
  interruptedGraceMs,
} from '../../domain/cluster/limits.ts';
import type { ClusterWorld } from './cluster-news.ts';
import { must } from './worlds.ts';

/** Plans, checks the plan, intends it all, and plans again: then there must be nothing left to decide. */
export function decide(world: ClusterWorld): Plan {
  const { rules, nowMs } = world;
  const before = JSON.stringify(world.state);
  const plan = rules.planCluster(world.state, nowMs);
  must(before === JSON.stringify(world.state), () => 'planning changed the state');
  const isEnding = plan.decisions.some(({ kind }) => kind === 'giveUp');
  for (const decision of plan.decisions) {
    checkDecision(world, decision, isEnding);
    rules.intend(world.state, decision, nowMs);
  }
  for (const decision of plan.decisions) keep(world, decision);
  const again = rules.planCluster(world.state, nowMs);
  must(again.decisions.length === 0, () => `decided again: ${JSON.stringify(again.decisions)}`);
  const nothingLeft = world.state.instances.length === 0 && world.state.launches.length === 0;
  must(again.done === (world.state.stopRequested !== null && nothingLeft), () => `done is ${again.done}`);
  checkBounds(world);
  checkFilled(world);
  checkWake(world, again);
  return again;
}

function checkDecision(world: ClusterWorld, decision: Decision, isEnding: boolean): void {
  const { state, nowMs } = world;
  if (decision.kind === 'launch') {
    must(state.stopRequested === null, () => 'launches after a stop');
    must(nowMs >= (state.launchBackoff?.untilMs ?? 0), () => 'launches while backing off');
    must(decision.seq > world.newestSeq, () => `launch ${decision.seq} is not new`);
    world.newestSeq = decision.seq;
    for (const { slot, generation } of decision.slots) {
      const taken = [...claiming(world), ...state.launches.flatMap((each) => each.slots.map((n) => ({ slot: n })))];
      must(!taken.some((each) => each.slot === slot), () => `slot ${slot} is taken`);
      must(slot < state.target, () => `slot ${slot} is beyond the target`);
      must(!world.givenUp.has(String(slot)), () => `slot ${slot} was given up`);
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
    const isOverdue = nowMs >= instance.launchedAtMs + state.settings.registerTimeoutMs || world.gone.has(id);
    const isLate = instance.state === 'starting' && isOverdue;
    if (isLate) world.met('never registered');
    const terminatesAtMs = world.interrupted.get(id);
    if (terminatesAtMs !== undefined && instance.state === 'ready' && state.stopRequested === null) {
      const isTaken = nowMs >= terminatesAtMs + interruptedGraceMs;
      must(isTaken || isEnding, () => `${id} is ended before its cloud takes it`);
      if (isTaken && !isEnding) world.lost.add(id);
      if (isTaken && !isEnding) world.met('taken back');
    }
    if (instance.state === 'error') world.lost.add(id);
    // Only what an instance did itself may count against its slot.
    if (isLate || instance.state === 'error') {
      world.slotFailures.set(instance.slot, (world.slotFailures.get(instance.slot) ?? 0) + 1);
    }
  }
}

function keep(world: ClusterWorld, decision: Decision): void {
  if (decision.kind === 'notifyJob') for (const lost of decision.lost) world.told.add(lost.instance);
  else if (decision.kind === 'endJob') world.endJobs += 1;
  else if (decision.kind !== 'giveUp' && decision.kind !== 'drain' && decision.kind !== 'hear')
    world.effects.push(decision);
}

/** Those that hold their slot: all but workers that their cloud takes back. */
function claiming({ state, interrupted }: ClusterWorld): ClusterState['instances'] {
  return state.instances.filter(({ id }) => !interrupted.has(id));
}

/** A slot whose instances fail in a row is left alone for a while. */
export function pausedUntilMs(state: ClusterState, slot: number): number {
  const history = state.slots[slot];
  if (history?.givenUp !== null) return 0;
  const { failures, lastFailureMs } = history;
  return failures === 0 ? 0 : lastFailureMs + (localSlotPausesMs[failures - 1] ?? Number.POSITIVE_INFINITY);
}

/** What can be asked for is asked for at once, also where an instance is only on its way out. */
function checkFilled(world: ClusterWorld): void {
  const { state, nowMs } = world;
  if (state.stopRequested !== null || nowMs < (state.launchBackoff?.untilMs ?? 0)) return;
  const asked = state.launches.flatMap((each) => each.slots);
  const taken = new Set([...claiming(world).map(({ slot }) => slot), ...asked]);
  if (world.doubtFromSeq !== null) return checkTried(world, world.doubtFromSeq, taken);
  for (let slot = 0; slot < state.target; slot += 1) {
    const isPaused = nowMs < pausedUntilMs(state, slot);
    if (isPaused) world.met('paused');
    must(taken.has(slot) || isPaused || Boolean(state.slots[slot]?.givenUp), () => `slot ${slot} is left vacant`);
  }
  for (const { id, state: is } of state.instances) {
    const terminatesAtMs = world.interrupted.get(id) ?? Number.POSITIVE_INFINITY;
    must(
      is === 'stopping' || nowMs < terminatesAtMs + interruptedGraceMs,
      () => `${id} is kept though it was taken back`,
    );
  }
}

/** While none registers one is tried at a time, for a slot that is not resting; the others wait for it, and not for ever. */
function checkTried(world: ClusterWorld, fromSeq: number, taken: Set<number>): void {
  const { state, nowMs } = world;
  const tried = [
    ...state.instances.filter(({ agent, launchSeq }) => agent === null && launchSeq >= fromSeq),
    ...state.launches.filter(({ seq }) => seq >= fromSeq).flatMap(({ slots }) => slots.map((slot) => ({ slot }))),
  ];
  must(new Set(tried.map(({ slot }) => slot)).size <= 1, () => 'several are tried at once though none registers');
  const vacant = Array.from({ length: state.target }, (_, slot) => slot).filter(
    (slot) => !taken.has(slot) && !state.slots[slot]?.givenUp,
  );
  if (vacant.length > 0 && tried.length > 0) world.met('tried one at a time');
  const isPaused = vacant.some((slot) => nowMs < pausedUntilMs(state, slot));
  must(
    vacant.length === 0 || tried.length > 0 || isPaused,
    () => `slots ${vacant.join()} are left vacant, and none is tried`,
  );
}

/** Never above limits: at most one instance claims a slot, and those on their way out do so no more. */
function checkBounds(world: ClusterWorld): void {
  const { state } = world;
  const present = state.instances.filter((instance) => instance.state !== 'stopping');
  const live = present.filter(({ id }) => !world.interrupted.has(id));
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

/** The clock alone changes nothing before the plan's own wake-up, and something then. */
function checkWake(world: ClusterWorld, { wakeAtMs }: Plan): void {
  const decisionsAt = (atMs: number): number => world.rules.planCluster(world.state, atMs).decisions.length;
  if (wakeAtMs === null) return must(decisionsAt(world.nowMs + 1e9) === 0, () => 'it will not wake for what is due');
  must(wakeAtMs > world.nowMs, () => 'it wakes in the past');
  must(decisionsAt(wakeAtMs - 1) === 0, () => 'it wakes too late');
  must(decisionsAt(wakeAtMs) > 0, () => 'it wakes for nothing');
}

export function checkState(world: ClusterWorld): void {
  const { state, rules } = world;
  must(state.launched - state.terminated === state.instances.length, () => 'instances are miscounted');
  const stop = state.stopRequested === null ? null : JSON.stringify(state.stopRequested);
  world.stop ??= stop;
  must(world.stop === stop, () => 'the reason of a stop changed');
  for (const [slot, history] of Object.entries(state.slots)) {
    const own = world.slotFailures.get(Number(slot)) ?? 0;
    if (history.givenUp === null) {
      must(history.failures <= own, () => `slot ${slot} has ${history.failures} failures, ${own} of them its own`);
      must(!world.givenUp.has(slot), () => `slot ${slot} came back`);
      must(history.failures < maxSlotFailures, () => `slot ${slot} is never given up`);
    } else {
      const { code } = history.givenUp;
      if (code === 'NEVER_REGISTERED' && own < maxNeverRegistered) world.met('given up after trying');
      world.givenUp.add(slot);
    }
  }
  if (rules.clusterStatus(state) === 'ready') must(isSettled(world), () => 'called ready, but a slot is still to come');
}

/** Every slot has a ready instance, or has been given up. */
function isSettled(world: ClusterWorld): boolean {
  const { state } = world;
  return Array.from({ length: state.target }, (_, slot) => slot).every(
    (slot) =>
      Boolean(state.slots[slot]?.givenUp) ||
      claiming(world).some((instance) => instance.slot === slot && instance.state === 'ready'),
  );
}

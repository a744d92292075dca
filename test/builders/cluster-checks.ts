// What must hold of a cluster's plans and state at any moment, whatever has happened before.
import type { Decision, Plan } from '../../domain/cluster/plan.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { maxSlotFailures } from '../../domain/limits.ts';
import type { ClusterWorld } from './cluster-news.ts';
import { must } from './worlds.ts';

/** Plans, checks the plan, intends it all, and plans again: then there must be nothing left to decide. */
export function decide(world: ClusterWorld): Plan {
  const { rules, nowMs } = world;
  const before = JSON.stringify(world.state);
  const plan = rules.planCluster(world.state, nowMs);
  must(before === JSON.stringify(world.state), () => 'planning changed the state');
  for (const decision of plan.decisions) {
    checkDecision(world, decision);
    rules.intend(world.state, decision, nowMs);
  }
  for (const decision of plan.decisions) keep(world, decision);
  const again = rules.planCluster(world.state, nowMs);
  must(again.decisions.length === 0, () => `decided again: ${JSON.stringify(again.decisions)}`);
  const nothingLeft = world.state.instances.length === 0 && world.state.launches.length === 0;
  must(again.done === (world.state.stopRequested !== null && nothingLeft), () => `done is ${again.done}`);
  checkBounds(world.state);
  checkWake(world, again);
  return again;
}

function checkDecision(world: ClusterWorld, decision: Decision): void {
  const { state, nowMs } = world;
  if (decision.kind === 'launch') {
    must(state.stopRequested === null, () => 'launches after a stop');
    must(nowMs >= (state.launchBackoff?.untilMs ?? 0), () => 'launches while backing off');
    must(decision.seq > world.newestSeq, () => `launch ${decision.seq} is not new`);
    world.newestSeq = decision.seq;
    for (const { slot, generation } of decision.slots) {
      const taken = [...state.instances, ...state.launches.flatMap((each) => each.slots.map((n) => ({ slot: n })))];
      must(!taken.some((each) => each.slot === slot), () => `slot ${slot} is taken`);
      must(slot < state.target, () => `slot ${slot} is beyond the target`);
      must(!world.givenUp.has(String(slot)), () => `slot ${slot} was given up`);
      must(generation === (state.slots[slot]?.generations ?? 0) + 1, () => `generation ${generation} of slot ${slot}`);
    }
  }
  if (decision.kind === 'inspect') must(state.stopRequested === null, () => 'inspects after a stop');
  if (decision.kind !== 'terminate') return;
  must(new Set(decision.ids).size === decision.ids.length, () => 'terminates one instance twice');
  for (const id of decision.ids) {
    const instance = state.instances.find((each) => each.id === id);
    must(instance !== undefined && instance.state !== 'stopping', () => `terminates ${id} again`);
    const isLate = instance.state === 'starting' && nowMs >= instance.launchedAtMs + state.settings.registerTimeoutMs;
    if (isLate) world.met('never registered');
    if (instance.state === 'error') world.lost.add(id);
    // Only what an instance did itself may count against its slot.
    if (isLate || instance.state === 'error') {
      world.slotFailures.set(instance.slot, (world.slotFailures.get(instance.slot) ?? 0) + 1);
    }
  }
}

function keep(world: ClusterWorld, decision: Decision): void {
  if (decision.kind === 'tellJob') for (const lost of decision.lost) world.told.add(lost.instance);
  else if (decision.kind === 'endJob') world.endJobs += 1;
  else if (decision.kind !== 'giveUp' && decision.kind !== 'drain') world.effects.push(decision);
}

/** Never above limits. */
function checkBounds(state: ClusterState): void {
  const live = state.instances.filter((instance) => instance.state !== 'stopping');
  const launching = state.launches.flatMap((launch) => launch.slots);
  const slots = [...live.map((instance) => instance.slot), ...launching];
  must(new Set(slots).size === slots.length, () => `slots ${String(slots)} are bound twice`);
  if (state.stopRequested !== null) must(live.length === 0, () => 'an instance lives on after a stop');
  else
    must(
      live.every((instance) => instance.slot < state.target),
      () => 'an instance beyond the target lives on',
    );
  must(
    live.every((instance) => instance.state !== 'error'),
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
    must(history.failures <= own, () => `slot ${slot} has ${history.failures} failures, ${own} of them its own`);
    if (history.givenUp === null) {
      must(!world.givenUp.has(slot), () => `slot ${slot} came back`);
      must(history.failures < maxSlotFailures, () => `slot ${slot} is never given up`);
    } else {
      world.givenUp.add(slot);
    }
  }
  if (rules.clusterStatus(state) === 'ready') must(isSettled(state), () => 'called ready, but a slot is still to come');
}

/** Every slot has a ready instance, or has been given up. */
function isSettled(state: ClusterState): boolean {
  return Array.from({ length: state.target }, (_, slot) => slot).every(
    (slot) =>
      Boolean(state.slots[slot]?.givenUp) ||
      state.instances.some((instance) => instance.slot === slot && instance.state === 'ready'),
  );
}

// What a cluster should do next, from what it knows now. Pure: `planCluster` reads, `intend` writes the intent of one
// decision into the state *before* anybody carries it out, and after that the same plan does not ask for it again.
import { assertNever } from '../errors.ts';
import { addEvent } from './create.ts';
import type { ClusterInstance, ClusterState, InstanceRole, SlotHistory } from './state.ts';

/** The code with which a job stops its cluster when it is over. */
export const jobOver = 'JOB_OVER';

/** Why an instance ends that has done nothing wrong: it is extra, or everything stops. */
export const notWanted = 'NOT_WANTED';

export interface SlotOrder {
  slot: number;
  generation: number;
  role: InstanceRole;
}

export type Decision =
  | { kind: 'launch'; seq: number; slots: SlotOrder[] }
  | { kind: 'terminate'; ids: string[]; why: string }
  | { kind: 'inspect'; ids: string[] }
  | { kind: 'tellJob'; lost: { instance: string; code: string; text: string }[] }
  | { kind: 'giveUp'; code: string; text: string }
  | { kind: 'endJob'; code: string; text: string };

export interface Plan {
  decisions: Decision[];
  /** Everything is gone after a stop: archive, release, end. */
  done: boolean;
  /** When to plan again though nothing was heard, or null. */
  wakeAtMs: number | null;
}

export function planCluster(state: ClusterState, nowMs: number): Plan {
  const surrender = giveUp(state);
  const decisions = [
    ...tellJob(state),
    ...terminate(state, nowMs),
    ...inspect(state),
    ...launch(state, nowMs),
    ...surrender,
    ...endJob(state, state.stopRequested ?? surrender[0] ?? null),
  ];
  const idle = decisions.length === 0 && state.launches.length === 0;
  return {
    decisions,
    done: idle && state.stopRequested !== null && state.instances.length === 0,
    wakeAtMs: nextWake(state, nowMs),
  };
}

/** Writes a decision's intent into the state; the effect comes after, and may come twice. */
export function intend(state: ClusterState, decision: Decision, nowMs: number): void {
  switch (decision.kind) {
    case 'launch':
      state.launches.push({ seq: decision.seq, slots: decision.slots.map((order) => order.slot), atMs: nowMs });
      state.nextLaunchSeq = decision.seq + 1;
      for (const order of decision.slots) slotHistory(state, order.slot).generations = order.generation;
      return;
    case 'terminate':
      for (const instance of named(state, decision.ids)) {
        const code = isLate(state, instance, nowMs) ? 'NEVER_REGISTERED' : notWanted;
        instance.reason ??= { code, text: decision.why, atMs: nowMs };
        instance.state = 'stopping';
      }
      return;
    case 'inspect':
      for (const instance of named(state, decision.ids)) {
        if (instance.suspicion !== null) instance.suspicion.inspection = 'under way';
      }
      return;
    case 'tellJob':
      state.lostToTell = [];
      return;
    case 'giveUp':
      state.stopRequested = { code: decision.code, text: decision.text, atMs: nowMs };
      addEvent(state, nowMs, decision.code, decision.text);
      return;
    case 'endJob':
      state.jobTold = true;
      return;
    default:
      assertNever(decision);
  }
}

/** The history of a slot, begun on first use. */
export function slotHistory(state: ClusterState, slot: number): SlotHistory {
  const known = state.slots[slot];
  if (known !== undefined) return known;
  const fresh: SlotHistory = { generations: 0, failures: 0, lastFailureMs: 0, givenUp: null };
  state.slots[slot] = fresh;
  return fresh;
}

function tellJob(state: ClusterState): Decision[] {
  if (state.lostToTell.length === 0) return [];
  return [{ kind: 'tellJob', lost: state.lostToTell }];
}

function terminate(state: ClusterState, nowMs: number): Decision[] {
  const live = state.instances.filter((instance) => instance.state !== 'stopping');
  if (state.stopRequested !== null) return grouped(live, state.stopRequested.text);
  const lost = live.filter((instance) => instance.state === 'error');
  const late = live.filter((instance) => isLate(state, instance, nowMs));
  const extra = live.filter((instance) => instance.state !== 'error' && isExtra(state, instance));
  const rest = late.filter((instance) => !extra.includes(instance));
  return [
    ...grouped(lost, 'lost'),
    ...grouped(extra, 'more than the cluster was asked for'),
    ...grouped(rest, `did not register within ${state.settings.registerTimeoutMs / 1000} s`),
  ];
}

function grouped(instances: ClusterInstance[], why: string): Decision[] {
  return instances.length === 0 ? [] : [{ kind: 'terminate', ids: instances.map((instance) => instance.id), why }];
}

function isLate(state: ClusterState, instance: ClusterInstance, nowMs: number): boolean {
  return instance.state === 'starting' && nowMs >= instance.launchedAtMs + state.settings.registerTimeoutMs;
}

/** Beyond the target, or a second one in its slot: at most one live instance per slot. */
function isExtra(state: ClusterState, instance: ClusterInstance): boolean {
  if (instance.slot >= state.target) return true;
  const first = state.instances.find((other) => other.slot === instance.slot && other.state !== 'stopping');
  return first !== instance;
}

function inspect(state: ClusterState): Decision[] {
  if (state.stopRequested !== null) return [];
  const wanted = state.instances.filter(
    (instance) => instance.state !== 'stopping' && instance.suspicion?.inspection === 'wanted',
  );
  return wanted.length === 0 ? [] : [{ kind: 'inspect', ids: wanted.map((instance) => instance.id) }];
}

function launch(state: ClusterState, nowMs: number): Decision[] {
  if (state.stopRequested !== null) return [];
  if (state.launchBackoff !== null && nowMs < state.launchBackoff.untilMs) return [];
  const slots = vacantSlots(state).map((slot) => ({
    slot,
    generation: (state.slots[slot]?.generations ?? 0) + 1,
    role: slot === 0 ? ('head' as const) : ('worker' as const),
  }));
  return slots.length === 0 ? [] : [{ kind: 'launch', seq: state.nextLaunchSeq, slots }];
}

/** Slots with no instance, living or on its way out, and none asked for. */
function vacantSlots(state: ClusterState): number[] {
  const taken = new Set([
    ...state.instances.map((instance) => instance.slot),
    ...state.launches.flatMap((pending) => pending.slots),
  ]);
  const vacant: number[] = [];
  for (let slot = 0; slot < state.target; slot += 1) {
    if (!taken.has(slot) && !state.slots[slot]?.givenUp) vacant.push(slot);
  }
  return vacant;
}

/** With every slot given up and nothing left alive, the cluster ends with the reason and tells its job. */
function giveUp(state: ClusterState): Extract<Decision, { kind: 'giveUp' }>[] {
  if (state.stopRequested !== null || state.launches.length > 0 || state.instances.length > 0) return [];
  if (state.target === 0 || vacantSlots(state).length > 0) return [];
  const reasons = Object.values(state.slots).flatMap((slot) => (slot.givenUp === null ? [] : [slot.givenUp]));
  const newest = reasons.reduce<(typeof reasons)[number] | null>(
    (best, reason) => (best === null || reason.atMs > best.atMs ? reason : best),
    null,
  );
  return [{ kind: 'giveUp', code: 'NO_INSTANCES', text: newest?.text ?? 'no instance could be had' }];
}

/** A job cannot go on without its cluster: whatever ends the cluster, but for the job itself, ends the job. */
function endJob(state: ClusterState, end: { code: string; text: string } | null): Decision[] {
  if (end === null || state.jobTold || state.settings.job === null) return [];
  if (end.code === jobOver) return [];
  return [{ kind: 'endJob', code: end.code, text: end.text }];
}

function nextWake(state: ClusterState, nowMs: number): number | null {
  if (state.stopRequested !== null) return null;
  const times = state.instances
    .filter((instance) => instance.state === 'starting')
    .map((instance) => instance.launchedAtMs + state.settings.registerTimeoutMs);
  if (state.launchBackoff !== null && vacantSlots(state).length > 0) times.push(state.launchBackoff.untilMs);
  const ahead = times.filter((time) => time > nowMs);
  return ahead.length === 0 ? null : ahead.reduce((a, b) => Math.min(a, b));
}

function named(state: ClusterState, ids: string[]): ClusterInstance[] {
  return state.instances.filter((instance) => ids.includes(instance.id));
}

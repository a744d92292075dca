// Plans a cluster's next decisions from its state. Pure: `planCluster` reads; `intend` writes the intent of one decision into the state *before* an
// activity carries it out, after which the plan does not repeat it.
import { assertNever } from '../errors.ts';
import { interruptedGraceMs } from './limits.ts';
import { plural } from '../units.ts';
import { countedWakes, earliest, type Wake } from '../wake.ts';
import { costEnd, costWakes } from './cost-limit.ts';
import { notePricesAsked, pricesToRead, priceWakes } from './running-prices.ts';
import { idleWakes } from './idle-warning.ts';
import { capacityDeadlineMs } from './capacity/wait.ts';
import { launchableSlots } from './slot/canary.ts';
import { addEvent, touchOrders } from './notes.ts';
import { askHeadAgainMs } from './dask/heard.ts';
import { daskEnd, daskWakes, drainsWanted, headToHear, isDraining, needsDrain, overdueMs } from './dask/plan.ts';
import type { DrainOrder } from './dask/plan.ts';
import { availableAgainAtMs, maxSlotsPerLaunch, placeLaunch } from './capacity/machines.ts';
import type { LaunchPlacement } from './capacity/machine-settings.ts';
import {
  isOverdue,
  isRegistrationCheckDue,
  noteRegistrationCheck,
  registrationWakes,
} from './instance/registration.ts';
import { fillableAtMs, isExtra, hasReleasedSlot, slotHistory, vacantSlots } from './slot/slots.ts';
import type { ClusterInstance, ClusterState, InstanceRole, LostInstance } from './state.ts';
import { becomeEnding } from './instance/transitions.ts';
import { inspectionWakes, isInspectionDue, noteInspected } from './instance/suspicion.ts';
import { groupedFailures, isIncomplete } from './status.ts';

/** The code with which an ended job stops its cluster. */
export const jobOver = 'JOB_OVER';

/** The reason code of an instance that ends without a fault: it is extra, or the whole cluster stops. */
export const notWanted = 'NOT_WANTED';

/** The reason code of an interrupted instance. */
export const spotInterrupted = 'INTERRUPTED';

export interface SlotOrder {
  slot: number;
  generation: number;
  role: InstanceRole;
}

export type Decision =
  | { kind: 'launch'; seq: number; slots: SlotOrder[]; placement?: LaunchPlacement }
  | { kind: 'terminate'; ids: string[]; why: string }
  | { kind: 'drain'; drains: DrainOrder[] }
  | { kind: 'inspect'; ids: string[] }
  /** Asks the API when it last heard the head's agent. */
  | { kind: 'hear'; ids: string[] }
  /** Asks the provider for the charges of existing spot instances. */
  | { kind: 'readCharges'; ids: string[] }
  | { kind: 'notifyJob'; lost: LostInstance[] }
  | { kind: 'giveUp'; code: string; text: string }
  | { kind: 'endJob'; code: string; text: string };

/** Decisions that wait for nothing else: a cloud may never terminate one instance, while the others cost money. */
export const isEnding = ({ kind }: Decision): boolean => endings.includes(kind);

const endings: Decision['kind'][] = ['terminate', 'notifyJob', 'endJob', 'giveUp'];

export interface Plan {
  decisions: Decision[];
  /** All instances have ended after a stop: archive, release, end. */
  done: boolean;
  /** When to plan again without an event, or null. */
  wakeAtMs: number | null;
  /** The wake-up's description, as in domain/wake.ts. */
  wakeFor: string;
}

export function planCluster(state: ClusterState, nowMs: number): Plan {
  const surrender = giveUp(state, nowMs);
  const end = state.stopRequested ?? surrender[0] ?? null;
  const decisions = [
    ...notifyJob(state),
    ...terminate(state, end, nowMs),
    // A cluster that ends now begins nothing more.
    ...(end === null
      ? [
          ...hear(state, nowMs),
          ...readCharges(state, nowMs),
          ...drain(state, nowMs),
          ...inspect(state, nowMs),
          ...launch(state, nowMs),
        ]
      : []),
    ...surrender,
    ...endJob(state, end),
  ];
  const idle = decisions.length === 0 && state.launches.length === 0;
  const wake = nextWake(state, nowMs);
  return {
    decisions,
    done: idle && state.stopRequested !== null && state.instances.length === 0,
    wakeAtMs: wake?.atMs ?? null,
    wakeFor: wake?.what ?? '',
  };
}

/** Writes a decision's intent into the state. The effect follows, and may be repeated. */
export function intend(state: ClusterState, decision: Decision, nowMs: number): void {
  switch (decision.kind) {
    case 'launch':
      state.launches.push({
        ...{ seq: decision.seq, slots: decision.slots.map((order) => order.slot), atMs: nowMs },
        ...(decision.placement === undefined ? {} : { placement: decision.placement }),
      });
      state.nextLaunchSeq = decision.seq + 1;
      for (const order of decision.slots) slotHistory(state, order.slot).generations = order.generation;
      return;
    case 'terminate':
      for (const instance of named(state, decision.ids)) {
        becomeEnding(instance, 'stopping', { code: endOf(state, instance, nowMs), text: decision.why, atMs: nowMs });
      }
      return;
    case 'inspect':
      for (const instance of named(state, decision.ids)) {
        if (isRegistrationCheckDue(state, instance, nowMs)) noteRegistrationCheck(instance);
        else if (isInspectionDue(state, instance, nowMs)) noteInspected(state, instance, nowMs);
      }
      return;
    case 'hear':
      if (state.dask === null) return;
      state.dask.headAsked = { underWay: true, nextMs: nowMs + askHeadAgainMs(overdueMs(state, nowMs) ?? 0) };
      return;
    case 'readCharges':
      notePricesAsked(state);
      return;
    case 'drain':
      for (const { instance: id, ...order } of decision.drains) {
        for (const { agent } of named(state, [id])) if (agent !== null) agent.drain = { ...order, outcome: null };
      }
      if (state.dask !== null) state.dask.nextDrainId += decision.drains.length;
      touchOrders(state);
      return;
    case 'notifyJob':
      state.lostToReport = [];
      return;
    case 'giveUp':
      state.stopRequested = { code: decision.code, text: decision.text, atMs: nowMs };
      addEvent(state, nowMs, decision.code, decision.text);
      touchOrders(state);
      return;
    case 'endJob':
      state.jobNotified = true;
      return;
    default:
      assertNever(decision);
  }
}

function notifyJob(state: ClusterState): Decision[] {
  if (state.lostToReport.length === 0) return [];
  return [{ kind: 'notifyJob', lost: state.lostToReport }];
}

function terminate(state: ClusterState, end: { text: string } | null, nowMs: number): Decision[] {
  const live = state.instances.filter((instance) => instance.state !== 'stopping');
  if (end !== null) return grouped(live, end.text);
  const lost = live.filter((instance) => instance.state === 'error');
  const late = live.filter(isOverdue);
  const extra = live.filter((instance) => instance.state !== 'error' && canGo(state, instance, nowMs));
  const rest = late.filter((instance) => !extra.includes(instance));
  const taken = live.filter((instance) => isTaken(state, instance, nowMs) && !extra.includes(instance));
  return [
    ...grouped(lost, 'lost'),
    ...grouped(extra, 'more than the cluster was asked for'),
    ...grouped(taken, 'its cloud took it back'),
    ...grouped(rest, `did not register within ${state.settings.registerTimeoutMs / 1000} s`),
  ];
}

function grouped(instances: ClusterInstance[], why: string): Decision[] {
  return instances.length === 0 ? [] : [{ kind: 'terminate', ids: instances.map((instance) => instance.id), why }];
}

/** True when the interruption deadline passed and the agent never reported leaving. */
function isTaken(state: ClusterState, instance: ClusterInstance, nowMs: number): boolean {
  const terminatesAtMs = instance.agent?.terminatesAtMs ?? null;
  if (instance.state === 'error' || terminatesAtMs === null || !hasReleasedSlot(instance)) return false;
  return nowMs >= terminatesAtMs + interruptedGraceMs;
}

function endOf(state: ClusterState, instance: ClusterInstance, nowMs: number): string {
  if (isOverdue(instance)) return 'NEVER_REGISTERED';
  return isTaken(state, instance, nowMs) ? spotInterrupted : notWanted;
}

/** True for an extra instance without data to save. A drained worker cannot return, because Dask has closed it. */
function canGo(state: ClusterState, instance: ClusterInstance, nowMs: number): boolean {
  if (instance.agent?.drain) return !isDraining(instance, nowMs);
  return isExtra(state, instance) && !needsDrain(state, instance);
}

function drain(state: ClusterState, nowMs: number): Decision[] {
  const drains = drainsWanted(state, nowMs);
  return drains.length === 0 ? [] : [{ kind: 'drain', drains }];
}

function inspect(state: ClusterState, nowMs: number): Decision[] {
  const due = state.instances.filter(
    (instance) => isInspectionDue(state, instance, nowMs) || isRegistrationCheckDue(state, instance, nowMs),
  );
  return due.length === 0 ? [] : [{ kind: 'inspect', ids: due.map((instance) => instance.id) }];
}

function hear(state: ClusterState, nowMs: number): Decision[] {
  const head = headToHear(state, nowMs);
  return head === null ? [] : [{ kind: 'hear', ids: [head] }];
}

function launch(state: ClusterState, nowMs: number): Decision[] {
  if (state.hold !== undefined) return [];
  if (state.launchBackoff !== null && nowMs < state.launchBackoff.untilMs) return [];
  const fillable = launchableSlots(state).filter((slot) => nowMs >= fillableAtMs(state, slot));
  const slots = fillable.map((slot) => orderFor(slot, (state.slots[slot]?.generations ?? 0) + 1));
  if (slots.length === 0) return [];
  const { machines } = state.settings;
  if (machines === undefined) return [{ kind: 'launch', seq: state.nextLaunchSeq, slots }];
  const some = slots.slice(0, maxSlotsPerLaunch);
  const placement = placeLaunch(state, machines, new Set(some.map(({ role }) => role)), nowMs);
  return placement === null ? [] : [{ kind: 'launch', seq: state.nextLaunchSeq, slots: some, placement }];
}

export const orderFor = (slot: number, generation: number): SlotOrder => ({
  slot,
  generation,
  role: slot === 0 ? 'head' : 'worker',
});

function readCharges(state: ClusterState, nowMs: number): Decision[] {
  const ids = pricesToRead(state, nowMs);
  return ids.length === 0 ? [] : [{ kind: 'readCharges', ids }];
}

/** Ends the cluster with a reason: by its cost limit, by Dask's rules, or because every slot was given up and no instance remains. */
function giveUp(state: ClusterState, nowMs: number): Extract<Decision, { kind: 'giveUp' }>[] {
  const end = costEnd(state, nowMs) ?? daskEnd(state, nowMs);
  if (end !== null) return [{ kind: 'giveUp', ...end }];
  if (state.stopRequested === null && isIncomplete(state)) {
    const text = `not all ${state.target} instances are available, and the job starts with all or none`;
    return [{ kind: 'giveUp', code: 'NOT_ALL_INSTANCES', text: `${text}${groupedFailures(state)}` }];
  }
  if (state.stopRequested !== null || state.launches.length > 0 || state.instances.length > 0) return [];
  if (state.target === 0 || vacantSlots(state).length > 0) return [];
  return [{ kind: 'giveUp', code: 'NO_INSTANCES', text: `no instance is available${groupedFailures(state)}` }];
}

/** A job cannot continue without its cluster: any end of the cluster, except one that the job requested, ends the job. */
function endJob(state: ClusterState, end: { code: string; text: string } | null): Decision[] {
  if (end === null || state.jobNotified || state.settings.job === null) return [];
  if (end.code === jobOver) return [];
  return [{ kind: 'endJob', code: end.code, text: end.text }];
}

function nextWake(state: ClusterState, nowMs: number): Wake | null {
  if (state.stopRequested !== null) return null;
  const departures = state.instances.flatMap((instance) =>
    instance.state !== 'stopping' && hasReleasedSlot(instance)
      ? [(instance.agent?.terminatesAtMs ?? 0) + interruptedGraceMs]
      : [],
  );
  const wakes = [
    ...registrationWakes(state),
    ...countedWakes(departures, (count) => `${plural(count, 'interrupted instance')} must have left by`),
    ...daskWakes(state),
    ...inspectionWakes(state),
    ...launchWakes(state, nowMs),
    ...costWakes(state, nowMs),
    ...idleWakes(state),
    ...priceWakes(state),
  ];
  return earliest(wakes.filter(({ atMs }) => atMs > nowMs));
}

function launchWakes(state: ClusterState, nowMs: number): Wake[] {
  const wakes: Wake[] = [];
  const deadlineMs = capacityDeadlineMs(state);
  if (deadlineMs !== null && state.launches.length === 0)
    wakes.push({ atMs: deadlineMs, what: 'wait for capacity ends at' });
  const launchable = launchableSlots(state);
  if (launchable.length === 0 || state.hold !== undefined) return wakes;
  const fillableMs = launchable.reduce((first, slot) => Math.min(first, fillableAtMs(state, slot)), Infinity);
  wakes.push({ atMs: Math.max(state.launchBackoff?.untilMs ?? 0, fillableMs), what: 'next launch at' });
  const againAtMs = availableAgainAtMs(state, nowMs);
  if (againAtMs !== null) wakes.push({ atMs: againAtMs, what: 'next launch of what was unavailable at' });
  return wakes;
}

function named(state: ClusterState, ids: string[]): ClusterInstance[] {
  return state.instances.filter((instance) => ids.includes(instance.id));
}

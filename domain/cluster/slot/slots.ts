// Slots: the places in a cluster that instances fill. Slot 0 belongs to the head instance; slots from the target on are extra.
import { cloudSlotPausesMs, localSlotPausesMs } from '../limits.ts';
import type { Reason } from '../../reason.ts';
import { isEnding } from '../instance/transitions.ts';
import type { ClusterInstance, ClusterState, SlotHistory } from '../state.ts';

/** Returns the history of a slot, created on first use. */
export function slotHistory(state: ClusterState, slot: number): SlotHistory {
  const known = state.slots[slot];
  if (known !== undefined) return known;
  const fresh: SlotHistory = { givenUp: null, generations: 0, failures: 0, lastFailureMs: 0, unregistered: 0 };
  state.slots[slot] = fresh;
  return fresh;
}

/** Launches no further instance for the slot. */
export function giveUpSlot(state: ClusterState, slot: number, reason: Reason): void {
  const { generations } = slotHistory(state, slot);
  state.slots[slot] = { givenUp: reason, generations };
}

/**
 * True for an interrupted worker: it works until its end, but its slot is vacant for the next generation. The number of instances may therefore
 * exceed the target by the interrupted ones; the instances that hold a slot never exceed it.
 */
export const hasReleasedSlot = ({ agent, role }: ClusterInstance): boolean =>
  agent !== null && agent.terminatesAtMs !== null && role === 'worker';

/** A worker that leaves a Dask cluster is drained first; a job's workers cannot be drained and work to their end. */
const worksOn = (state: ClusterState): boolean => state.dask === null;

/** Slots that no instance holds and no launch under way fills. */
export function vacantSlots(state: ClusterState): number[] {
  const taken = new Set([
    ...state.instances.filter((instance) => !hasReleasedSlot(instance)).map((instance) => instance.slot),
    ...state.launches.flatMap((pending) => pending.slots),
  ]);
  const vacant: number[] = [];
  for (let slot = 0; slot < state.target; slot += 1) {
    if (!taken.has(slot) && !state.slots[slot]?.givenUp) vacant.push(slot);
  }
  return vacant;
}

/** When a slot may be filled again: consecutive failures of its instances cause a pause. */
export function fillableAtMs(state: ClusterState, slot: number): number {
  const history = state.slots[slot];
  if (history === undefined || history.givenUp !== null || history.failures === 0) return 0;
  const pausesMs = state.settings.machines === undefined ? localSlotPausesMs : cloudSlotPausesMs;
  return history.lastFailureMs + (pausesMs[Math.min(history.failures, pausesMs.length) - 1] ?? 0);
}

/** True for an instance beyond the target, and for a second one in its slot. */
export function isExtra(state: ClusterState, instance: ClusterInstance): boolean {
  // A termination would lose the tasks of a job's worker, which may still finish in time; its remaining cost is small.
  if (hasReleasedSlot(instance) && worksOn(state)) return false;
  if (instance.slot >= state.target) return true;
  if (hasReleasedSlot(instance)) return false;
  const first = state.instances.find(
    (other) => other.slot === instance.slot && other.state !== 'stopping' && !hasReleasedSlot(other),
  );
  return first !== instance;
}

/**
 * Before a scale-down: moves the workers to keep into the remaining slots. The workers without a started process, or with the fewest running keys,
 * are terminated. The head instance never moves.
 */
export function selectWorkersToKeep(state: ClusterState, target: number): void {
  const inFlight = new Set(state.launches.flatMap((pending) => pending.slots));
  const places: number[] = [];
  for (let slot = 1; slot < target; slot += 1) if (!inFlight.has(slot)) places.push(slot);
  const busy = new Map(state.dask?.report?.workers.map((worker) => [worker.name, worker.processing]));
  const worth = ({ agent }: ClusterInstance): number =>
    agent?.process?.state === 'started' ? 1 + (busy.get(agent.process.name) ?? 0) : 0;
  const staying = state.instances
    .filter((instance) => instance.slot > 0 && isServing(instance) && !hasReleasedSlot(instance))
    .toSorted((a, b) => worth(b) - worth(a) || a.slot - b.slot)
    .slice(0, places.length);
  const held = new Set(staying.flatMap((instance) => (instance.slot < target ? [instance.slot] : [])));
  const free = places.filter((slot) => !held.has(slot));
  for (const instance of staying.filter((each) => each.slot >= target)) {
    const slot = free.shift();
    if (slot === undefined) return;
    moveToSlot(state, instance, slot);
  }
}

/** Instances in the new slot get the old slot, and the histories of the slots move with them. */
export function moveToSlot(state: ClusterState, instance: ClusterInstance, slot: number): void {
  const from = instance.slot;
  for (const other of state.instances) if (other !== instance && other.slot === slot) other.slot = from;
  instance.slot = slot;
  if (from !== slot) swapHistories(state, from, slot);
}

/** A slot that was given up must not stay given up with a working instance. Generations stay, because a slot has each number only once. */
function swapHistories(state: ClusterState, one: number, other: number): void {
  const [first, second] = [slotHistory(state, one), slotHistory(state, other)];
  state.slots[one] = { ...second, generations: first.generations };
  state.slots[other] = { ...first, generations: second.generations };
}

const isServing = (instance: ClusterInstance): boolean => !isEnding(instance) && !instance.agent?.drain;

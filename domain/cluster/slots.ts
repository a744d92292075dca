// Slots: the places in a cluster that instances fill. Slot 0 is the head instance's; slots from the target on are extra.
import type { ClusterInstance, ClusterState, SlotHistory } from './state.ts';

/** The history of a slot, begun on first use. */
export function slotHistory(state: ClusterState, slot: number): SlotHistory {
  const known = state.slots[slot];
  if (known !== undefined) return known;
  const fresh: SlotHistory = { generations: 0, failures: 0, lastFailureMs: 0, givenUp: null };
  state.slots[slot] = fresh;
  return fresh;
}

/** Slots with no instance, living or on its way out, and none asked for. */
export function vacantSlots(state: ClusterState): number[] {
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

/** Beyond the target, or a second one in its slot: at most one live instance per slot. */
export function isExtra(state: ClusterState, instance: ClusterInstance): boolean {
  if (instance.slot >= state.target) return true;
  const first = state.instances.find((other) => other.slot === instance.slot && other.state !== 'stopping');
  return first !== instance;
}

/**
 * Before a scale-down: the workers worth keeping move into the slots that stay, so that those that go are the ones without
 * a started process, or with the fewest running keys. The head instance never moves.
 */
export function keepTheBest(state: ClusterState, target: number): void {
  const inFlight = new Set(state.launches.flatMap((pending) => pending.slots));
  const places: number[] = [];
  for (let slot = 1; slot < target; slot += 1) if (!inFlight.has(slot)) places.push(slot);
  const busy = new Map(state.dask?.report?.workers.map((worker) => [worker.name, worker.processing]));
  const worth = (instance: ClusterInstance): number =>
    instance.process?.state === 'started' ? 1 + (busy.get(instance.process.name) ?? 0) : 0;
  const staying = state.instances
    .filter((instance) => instance.slot > 0 && isServing(instance))
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

/** Whoever is in that slot gets the instance's old one. */
export function moveToSlot(state: ClusterState, instance: ClusterInstance, slot: number): void {
  for (const other of state.instances) if (other !== instance && other.slot === slot) other.slot = instance.slot;
  instance.slot = slot;
}

const isServing = (instance: ClusterInstance): boolean =>
  instance.state !== 'stopping' && instance.state !== 'error' && instance.drain === null;

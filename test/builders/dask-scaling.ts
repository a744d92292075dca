// Checks every step that changes the number of workers of a simulated Dask cluster: which worker leaves, and what caused the change.
import type { ClusterInstance } from '../../domain/cluster/state.ts';
import { fewerAfterMs } from './dask-settings.ts';
import { type DaskSimulation, hasStarted, isServing } from './dask-books.ts';
import { must } from './simulations.ts';

/** The cause of a new number of workers: a request, or adaptive scaling after an input or by time. */
export type Cause = 'asked' | 'input' | 'time';

export function watchScaling(sim: DaskSimulation, cause: Cause, step: () => void): void {
  const { state } = sim;
  const target = state.target;
  const slots = new Map(state.instances.map((instance) => [instance.id, instance.slot]));
  const hasEnded = state.stopRequested !== null;
  step();
  must(!hasEnded || state.target === target, () => 'a stopped cluster scales');
  if (state.target === target) return;
  if (state.target < target) checkWhoGoes(sim);
  for (const { id, slot } of state.instances) {
    if (slots.get(id) !== slot && slots.has(id)) sim.met('worker moved');
    must(slots.get(id) !== 0 || slot === 0, () => 'the head was moved');
  }
  if (cause !== 'asked') checkAdaptive(sim, target);
  const { adaptive, targets } = sim.books;
  const asked = Math.max(adaptive?.minimum ?? 0, targets.at(-1)?.workers ?? 0);
  const isAsked = state.target - 1 <= asked;
  must(cause !== 'time' || state.target < target || isAsked, () => 'time alone makes it grow');
}

/** No worker leaves that runs more tasks than one that stays, and no started worker leaves before one that has not started. */
function checkWhoGoes(sim: DaskSimulation): void {
  const { state, met } = sim;
  met('scale down');
  const keys = new Map(state.dask?.report?.workers.map((worker) => [worker.name, worker.processing]));
  const worth = (instance: ClusterInstance): number =>
    hasStarted(instance) ? 1 + (keys.get(instance.agent?.process?.name ?? '') ?? 0) : 0;
  const serving = state.instances.filter((instance) => isServing(sim, instance));
  const going = serving.filter((instance) => instance.slot >= state.target);
  const staying = serving.filter((instance) => instance.slot < state.target);
  const launching = new Set(state.launches.flatMap((launch) => launch.slots));
  const places = Array.from({ length: state.target - 1 }, (_, index) => index + 1).filter(
    (slot) => !launching.has(slot),
  );
  const room = Math.min(places.length, serving.length);
  must(staying.length === room, () => `${staying.length} stay where ${room} could`);
  for (const stays of staying) {
    for (const goes of going) {
      must(
        worth(goes) <= worth(stays),
        () => `${goes.id} goes with ${worth(goes)}, ${stays.id} stays with ${worth(stays)}`,
      );
    }
  }
}

function checkAdaptive({ state, books, nowMs, met }: DaskSimulation, before: number): void {
  const workers = state.target - 1;
  met(state.target > before ? 'adaptive up' : 'adaptive down');
  if (books.adaptive === null) return must(workers > before - 1, () => 'scaled down unasked');
  const { minimum, maximum } = books.adaptive;
  must(workers <= maximum || state.target < before, () => `${workers} workers, at most ${maximum}`);
  must(workers >= minimum || state.target > before, () => `${workers} workers, at least ${minimum}`);
  if (state.target > before) return;
  const sinceMs = nowMs - fewerAfterMs;
  const inForce = books.targets.filter((target) => target.atMs > sinceMs);
  const earlier = books.targets.findLast((target) => target.atMs <= sinceMs);
  for (const target of earlier === undefined ? inForce : [earlier, ...inForce]) {
    const most = Math.min(target.workers ?? before - 1, maximum);
    must(most <= workers, () => `scaled down to ${workers} within a minute of a target for ${target.workers}`);
  }
}

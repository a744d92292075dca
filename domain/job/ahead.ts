// Leases that an agent holds before their turn, so short tasks need no exchange each. A lease whose command never began returns without harm. A task
// that may have begun when its instance was lost is retried alone; only a loss of such an attempt counts.
import { countLeasedInstances, leasesOf } from './leases.ts';
import { maxHeldLeases, maxLeasesAhead } from './limits.ts';
import { countWaiting, endLease, interruptLease, hasEnded, loseLease } from './rules.ts';
import type { JobState, Lease } from './state.ts';

/**
 * Returns how many leases an instance may hold now, the running one included: half of its share of the waiting tasks, so no instance hoards tasks
 * near the end, and in total no more than the state can carry. One while the next task must run alone, because an agent that asked for more beside it
 * would get none.
 */
export function mayHold(state: JobState): number {
  const [next] = state.requeued;
  if (next !== undefined && runsAlone(state, next)) return 1;
  const waiting = countWaiting(state);
  const instances = Math.max(1, state.settings.instances);
  const share = Math.floor(waiting / (2 * instances));
  return Math.max(1, Math.min(maxHeldLeases, share, 1 + Math.floor(maxLeasesAhead / instances)));
}

/**
 * True when an instance with this number of leases may get another one ahead. Agents that respect `mayHold` ask for less. A state with the
 * leases of agents that do not respect it would exceed the limit of a payload, and the job could not continue as new.
 */
export const mayHoldAnother = (state: JobState, held: number): boolean =>
  held < maxHeldLeases && state.leases.length - countLeasedInstances(state) < maxLeasesAhead;

/** True when a task must be the only lease of its instance: the task, or one held beside it, may have caused the loss of an instance. */
export function runsAlone(state: JobState, task: number): boolean {
  return state.losses[task] !== undefined;
}

/** Returns leases of an agent. Before a spot instance ends, they include that of the running task, whose attempt ends with it. */
export function returnLeases(state: JobState, id: string, numbers: number[]): void {
  if (numbers.length === 0) return;
  const returned = new Set(numbers);
  const own = leasesOf(state, id).filter((held) => returned.has(held.lease));
  interruptLeases(
    state,
    own.filter((held) => held.startedAtMs !== null),
  );
  putBack(
    state,
    own.filter((held) => held.startedAtMs === null),
  );
}

/** Ends leases of an instance that ended in order. Leases that waited for their turn lose no attempt. */
export function interruptLeases(state: JobState, leases: readonly Lease[]): void {
  for (const lease of leases.filter((held) => held.ahead !== true)) interruptLease(state, lease);
  putBack(
    state,
    leases.filter((held) => held.ahead === true),
  );
}

/** Ends leases of a lost instance. Leases that waited for their turn lose no attempt, but their progress is unknown. */
export function loseLeases(state: JobState, leases: readonly Lease[], why: string, nowMs: number): void {
  for (const lease of leases.filter((held) => held.ahead !== true)) loseLease(state, lease, why, nowMs);
  const ahead = leases.filter((held) => held.ahead === true);
  if (!hasEnded(state)) for (const { task } of ahead) state.losses[task] ??= [];
  putBack(state, ahead);
}

/** Puts tasks first in line again, in their order, as if never leased. */
function putBack(state: JobState, leases: readonly Lease[]): void {
  const open = leases.filter((lease) => endLease(state, lease));
  if (hasEnded(state) || open.length === 0) return;
  state.requeued.unshift(...open.map(({ task }) => task));
  delete state.emptySinceMs;
}

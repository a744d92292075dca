// What idempotency keys were last used for. A run remembers all of its own; what it hands on to the next one must fit, with
// everything else that the workspace knows, into one message of Temporal, whatever was admitted in the workspace's life.
import { idempotencyTtlMs, maxCarriedBytes, maxIdempotencyKeys } from '../limits.ts';
import type { IdempotencyRecord, WorkspaceState } from './state.ts';

export function remember(state: WorkspaceState, key: string, record: IdempotencyRecord): void {
  state.keyCount ??= Object.keys(state.keys).length;
  if (state.keyCount >= maxIdempotencyKeys) forgetMany(state, record.atMs);
  if (!Object.hasOwn(state.keys, key)) state.keyCount += 1;
  state.keys[key] = record;
}

/** Beyond the bound the oldest go, whatever their age. Looking at every key is for this moment alone: there may be many. */
function forgetMany(state: WorkspaceState, nowMs: number): void {
  keep(state, youngOf(state, nowMs).slice(-Math.floor(maxIdempotencyKeys / 2)));
}

/**
 * Before a run hands its state on: forgets the keys that are over, and of the others the oldest that there is no room for (some
 * 7,000 have room where little is open). At the end of a run only, so that no replay decides anything otherwise; in place,
 * because updates that are answered after this, and before the run is over, must be in what it hands on.
 */
export function forgetForNextRun(state: WorkspaceState, nowMs: number): void {
  let room = maxCarriedBytes - bytesOf({ ...state, keys: {} });
  const newestFirst = youngOf(state, nowMs).toSorted(([, a], [, b]) => b.atMs - a.atMs);
  const beyond = newestFirst.findIndex((entry) => (room -= bytesOf(entry)) < 0);
  keep(state, (beyond === -1 ? newestFirst : newestFirst.slice(0, beyond)).toReversed());
}

type Entry = [key: string, record: IdempotencyRecord];

const youngOf = (state: WorkspaceState, nowMs: number): Entry[] =>
  Object.entries(state.keys).filter(([, record]) => nowMs - record.atMs < idempotencyTtlMs);

function keep(state: WorkspaceState, entries: Entry[]): void {
  state.keys = Object.fromEntries(entries);
  state.keyCount = entries.length;
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

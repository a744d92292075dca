// The life of a reservation after admission: its workflow is started once, and in the end it releases what it held.
import { startBatchSize } from '../limits.ts';
import type { Holder, WorkspaceState } from './state.ts';

/** The reservations whose workflows are to be started now, marked as such before anybody starts them: so many at a time. */
export function takeStartable(state: WorkspaceState): Holder[] {
  const starting = state.holders.filter((holder) => holder.state === 'starting').length;
  const places = Math.max(0, startBatchSize - starting);
  const batch = state.holders.filter((holder) => holder.state === 'reserved').slice(0, places);
  for (const holder of batch) holder.state = 'starting';
  return batch;
}

/** A start has answered. A start that failed goes back in line: the loop tries again. */
export function noteStart(state: WorkspaceState, number: number, started: boolean): void {
  const holder = state.holders.find((each) => each.number === number);
  if (holder?.state === 'starting') holder.state = started ? 'running' : 'reserved';
}

/** Frees a number's name and its share of the limits. Releasing twice is releasing once. */
export function release(state: WorkspaceState, number: number): void {
  state.holders = state.holders.filter((holder) => holder.number !== number);
}

/** True when the loop should lease a spare block: admission must never wait for one. */
export function needsSpare(state: WorkspaceState): boolean {
  return state.spare === null;
}

/** A leased block arrives; `leaseSeq` tells a repeated answer from a new one. */
export function addSpare(state: WorkspaceState, leaseSeq: number, block: { from: number; to: number }): void {
  if (leaseSeq !== state.leaseSeq || state.spare !== null) return;
  state.spare = { next: block.from, end: block.to };
  state.leaseSeq += 1;
}

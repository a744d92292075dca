// Notes for others: a cluster's list of events, and the version number that wakes agents waiting for orders.
import { maxEventsKept } from './limits.ts';
import { record } from './history.ts';
import type { ClusterState } from './state.ts';

export function addEvent(state: ClusterState, atMs: number, code: string, text: string, by?: string): void {
  const event = { code, text, ...(by === undefined ? {} : { by }) };
  state.events = [...state.events, { seq: state.history.nextSeq, atMs, ...event }].slice(-maxEventsKept);
  record(state.history, atMs, { kind: 'event', ...event });
}

/** Answers the agents that wait for orders. */
export function touchOrders(state: ClusterState): void {
  if (state.dask !== null) state.dask.ordersVersion += 1;
}

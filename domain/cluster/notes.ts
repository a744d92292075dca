// What a cluster notes for others: its short list of events, and that agents who wait for orders have something to hear.
import { maxEventsKept } from './limits.ts';
import { record } from './history.ts';
import type { ClusterState } from './state.ts';

export function addEvent(state: ClusterState, atMs: number, code: string, text: string, by?: string): void {
  const event = { atMs, code, text, ...(by === undefined ? {} : { by }) };
  state.events = [...state.events, event].slice(-maxEventsKept);
  record(state.history, atMs, { kind: 'event', code, text, ...(by === undefined ? {} : { by }) });
}

/** Agents that wait for orders are answered when this has grown. */
export function touchOrders(state: ClusterState): void {
  if (state.dask !== null) state.dask.ordersVersion += 1;
}

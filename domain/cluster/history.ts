// The history of a cluster: numbered events and changes of its status and of its instances' states. The cluster's state holds the entries that are
// not yet in the database, and the last recorded values, with which changes.ts finds the next change.
import type { Reason } from '../reason.ts';
import { maxHistoryHeld } from './limits.ts';
import type { ClusterStatus, InstanceState, ProcessState, Stage, StageName } from './statuses.ts';

export type Moment = { seq: number; atMs: number } & Change;
export type Change = EventChange | StatusChange | InstanceChange;

export interface EventChange {
  kind: 'event';
  code: string;
  text: string;
  /** The user who requested it, if any. */
  by?: string;
}

/** An event of the list of a cluster. Numbers of events only grow; the numbers between them belong to other changes. */
export type NumberedEvent = { seq: number; atMs: number } & Omit<EventChange, 'kind'>;

export interface StatusChange {
  kind: 'status';
  status: ClusterStatus;
  /** Target number of instances. */
  target: number;
  reason: Reason | null;
}

export interface InstanceChange {
  kind: 'instance';
  id: string;
  state: InstanceState | 'gone';
  /** The state of its Dask process; null without one. */
  process: ProcessState | null;
  /** True when it is drained or has released its slot. */
  isLeaving: boolean;
  /** Stages reached since the previous change. */
  reached: Stage[];
}

export interface History {
  nextSeq: number;
  /** Not in the database yet, oldest first. */
  held: Moment[];
  /** The last recorded status, as text. */
  status: string;
  /** The last recorded value of each existing instance. */
  instances: Record<string, { key: string; stages: StageName[] }>;
}

export const eventOf = ({ seq, atMs, code, text, by }: NumberedEvent): NumberedEvent => ({
  ...{ seq, atMs, code, text, ...(by === undefined ? {} : { by }) },
});

export const createHistory = (): History => ({ nextSeq: 1, held: [], status: '', instances: {} });

export function record(history: History, atMs: number, change: Change): void {
  history.held.push({ seq: history.nextSeq, atMs, ...change });
  history.nextSeq += 1;
  if (history.held.length > maxHistoryHeld) history.held.shift();
}

/** Drops the entries in `written`, which are now in the database. */
export function forgetHistory(history: History, written: readonly Moment[]): void {
  const last = written.at(-1)?.seq ?? 0;
  history.held = history.held.filter(({ seq }) => seq > last);
}

// The history of a cluster: each event, and each change of its status and of an instance's state, numbered. A cluster's state
// holds those that the database does not have yet, and what was recorded last, by which the next change is found (changes.ts).
import type { Reason } from '../reason.ts';
import { maxHistoryHeld } from './limits.ts';
import type { ClusterStatus, InstanceState, ProcessState, Stage, StageName } from './statuses.ts';

export type Moment = { seq: number; atMs: number } & Change;
export type Change = EventChange | StatusChange | InstanceChange;

export interface EventChange {
  kind: 'event';
  code: string;
  text: string;
  /** The user who asked for it, when one did. */
  by?: string;
}

export interface StatusChange {
  kind: 'status';
  status: ClusterStatus;
  /** Instances wanted. */
  target: number;
  reason: Reason | null;
}

export interface InstanceChange {
  kind: 'instance';
  id: string;
  state: InstanceState | 'gone';
  /** Of its Dask process; null without one. */
  process: ProcessState | null;
  /** It is drained, or has given its slot to another. */
  isLeaving: boolean;
  /** Stages that it has reached since the change before. */
  reached: Stage[];
}

export interface History {
  nextSeq: number;
  /** Not in the database yet, oldest first. */
  held: Moment[];
  /** The status that was recorded last, as text. */
  status: string;
  /** What was recorded last of each instance that exists. */
  instances: Record<string, { key: string; stages: StageName[] }>;
}

export const createHistory = (): History => ({ nextSeq: 1, held: [], status: '', instances: {} });

export function record(history: History, atMs: number, change: Change): void {
  history.held.push({ seq: history.nextSeq, atMs, ...change });
  history.nextSeq += 1;
  if (history.held.length > maxHistoryHeld) history.held.shift();
}

/** What `written` contained is in the database. */
export function forgetHistory(history: History, written: readonly Moment[]): void {
  const last = written.at(-1)?.seq ?? 0;
  history.held = history.held.filter(({ seq }) => seq > last);
}

// What people ask of a cluster. Stop always wins, and is the same when asked twice.
import type { Reason } from '../reason.ts';
import { addEvent, touchOrders } from './notes.ts';
import { keepTheBest } from './slots.ts';
import type { ClusterState } from './state.ts';
import { noteReady } from './view.ts';

export function stopCluster(state: ClusterState, reason: Reason): void {
  if (state.stopRequested !== null) return;
  state.stopRequested = reason;
  addEvent(state, reason.atMs, reason.code, reason.text, reason.by);
  touchOrders(state);
}

/** Who asks, and the number that the workspace gave the request: of those of a kind, the newest counts. */
export interface Asked {
  by?: string;
  seq?: number;
}

/** True for one that a newer one has overtaken on its way. Notes the number otherwise. */
export function isOvertaken(state: ClusterState, kind: 'scale' | 'adapt', { seq }: Asked): boolean {
  if (seq === undefined) return false;
  if (seq < (state.asked?.[kind] ?? 0)) return true;
  state.asked = { ...state.asked, [kind]: seq };
  return false;
}

/** Sets the number of instances wanted, the head instance included. Ignored once a stop was asked for. */
export function scaleCluster(state: ClusterState, instances: number, nowMs: number, asked: Asked = {}): void {
  if (isOvertaken(state, 'scale', asked) || state.stopRequested !== null || instances === state.target) return;
  const target = Math.max(1, Math.floor(instances));
  if (target < state.target && state.dask !== null) keepTheBest(state, target);
  // What adaptive scaling was about to do was about another number: its minute begins again.
  if (state.dask !== null) state.dask.fewer = null;
  state.target = target;
  addEvent(state, nowMs, 'SCALE', `asked for ${state.target} instances`, asked.by);
  // Fewer may be what is there already, and a cluster that had all it wanted has started, whatever it wants next.
  noteReady(state, nowMs);
}

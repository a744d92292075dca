// A scheduler that is there and does not answer: its agent asks it now and then, and says when it has had no answer for long,
// and when it has one again. Its cluster ends only by what an agent says then, never by the passing of time alone: a report
// that an outage of ours holds up ends nothing.
import { addEvent } from '../notes.ts';
import type { ClusterState, DaskSettings, DaskState } from '../state.ts';

/** `unansweredForMs`: how long it has not answered, or null when it does again. */
export function applyUnanswered(
  state: ClusterState,
  dask: DaskState,
  unansweredForMs: number | null,
  nowMs: number,
): void {
  const known = dask.unresponsive;
  if (unansweredForMs === null) {
    delete dask.unresponsive;
    if (known === undefined) return;
    const text = `the scheduler answers again, after ${seconds(nowMs - known.sinceMs)}`;
    addEvent(state, nowMs, 'SCHEDULER_ANSWERS', text);
    return;
  }
  dask.unresponsive = { sinceMs: nowMs - unansweredForMs, saidAtMs: nowMs };
  if (known !== undefined) return;
  const text = `the scheduler runs, and has not answered for ${seconds(unansweredForMs)}`;
  addEvent(state, nowMs, 'SCHEDULER_UNRESPONSIVE', text);
}

/** A cluster whose scheduler does not answer is of no use, and its idleness is unknown. */
export function unresponsiveEnd(dask: DaskState, settings: DaskSettings): { code: string; text: string } | null {
  if (dask.unresponsive === undefined) return null;
  const { sinceMs, saidAtMs } = dask.unresponsive;
  if (saidAtMs - sinceMs < settings.unresponsiveTimeoutMs) return null;
  const text = `the scheduler's process runs, and has not answered for ${seconds(saidAtMs - sinceMs)}`;
  return { code: 'SCHEDULER_UNRESPONSIVE', text };
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

// A running scheduler that does not answer. Its agent probes it periodically, and reports when it has not answered for long and when it answers
// again. A cluster ends only by such a report, never by elapsed time alone: a report that an outage of the API delays ends nothing.
import { addEvent } from '../notes.ts';
import type { ClusterState, DaskSettings, DaskState } from '../state.ts';

/** `unansweredForMs`: how long the scheduler has not answered; null when it answers again. */
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

/** A cluster whose scheduler does not answer cannot be used, and its idleness is unknown. */
export function unresponsiveEnd(dask: DaskState, settings: DaskSettings): { code: string; text: string } | null {
  if (dask.unresponsive === undefined) return null;
  const { sinceMs, saidAtMs } = dask.unresponsive;
  if (saidAtMs - sinceMs < settings.unresponsiveTimeoutMs) return null;
  const text = `the scheduler's process runs, and has not answered for ${seconds(saidAtMs - sinceMs)}`;
  return { code: 'SCHEDULER_UNRESPONSIVE', text };
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

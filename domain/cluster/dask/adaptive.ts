// Adaptive scaling: the scheduler says how many workers it would like to have, and the cluster follows within its bounds.
import { addEvent, touchOrders } from '../notes.ts';
import { isOvertaken, resizeCluster, type Asked } from '../requests.ts';
import type { ClusterState, DaskState } from '../state.ts';
import { scaleInAfterMs, type Adaptive } from './adaptive-settings.ts';

/** Turns adaptive scaling on, between these counts of workers, or off. */
export function adaptCluster(
  state: ClusterState,
  adaptive: DaskState['adaptive'],
  nowMs: number,
  asked: Asked = {},
): void {
  if (isOvertaken(state, 'adapt', asked)) return;
  if (state.dask === null || state.stopRequested !== null) return;
  // After a scale request adaptive scaling is off already: this only releases its reservation.
  if (adaptive === null && state.dask.adaptive === null) return;
  if (!hasSameMeasure(adaptive, state.dask.adaptive)) touchOrders(state);
  state.dask.adaptive = adaptive;
  state.dask.fewer = [];
  const text =
    adaptive === null ? 'adaptive scaling is off' : `between ${adaptive.minimum} and ${adaptive.maximum} workers`;
  addEvent(state, nowMs, 'ADAPT', text, asked.by);
  adaptNow(state, state.dask, nowMs);
}

/**
 * Follows the scheduler's target at once when it is higher. A worker is closed when the target has been without it for
 * `scaleInAfterMs`, whatever became of the others meanwhile: the same that Dask's own Adaptive does.
 */
export function adaptNow(state: ClusterState, dask: DaskState, nowMs: number): void {
  if (dask.adaptive === null) return;
  const { minimum, maximum } = dask.adaptive;
  const current = state.target - 1;
  const wanted = Math.min(maximum, Math.max(minimum, dask.report?.adaptiveTarget ?? current));
  if (wanted >= current) {
    dask.fewer = [];
    if (wanted > current) resizeCluster(state, wanted + 1, nowMs);
    return;
  }
  dask.fewer = noteEnough(dask.fewer, wanted, nowMs);
  const afterMs = scaleInAfterMs(dask.adaptive);
  const due = dask.fewer.findLast(({ sinceMs }) => nowMs >= sinceMs + afterMs);
  if (due === undefined) return;
  const later = dask.fewer.filter(({ workers }) => workers < due.workers);
  resizeCluster(state, due.workers + 1, nowMs);
  dask.fewer = later;
}

/** When fewer workers were enough, so many were too: their time began then. */
function noteEnough(fewer: DaskState['fewer'], wanted: number, nowMs: number): DaskState['fewer'] {
  const known = fewer.filter(({ workers }) => workers >= wanted);
  if (known.at(-1)?.workers === wanted) return known;
  const sinceMs = fewer.find(({ workers }) => workers < wanted)?.sinceMs ?? nowMs;
  return [...known, { workers: wanted, sinceMs }];
}

const hasSameMeasure = (a: Adaptive | null, b: Adaptive | null): boolean =>
  a?.targetDurationMs === b?.targetDurationMs && a?.intervalMs === b?.intervalMs;

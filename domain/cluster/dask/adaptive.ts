// Adaptive scaling: the scheduler reports its target number of workers, and the cluster follows it within its bounds.
import { addEvent, touchOrders } from '../notes.ts';
import { isOvertaken, resizeCluster, type Asked } from '../requests.ts';
import type { ClusterState, DaskState } from '../state.ts';
import { scaleInAfterMs, type Adaptive } from './adaptive-settings.ts';

/** Turns adaptive scaling on, with new bounds, or off. */
export function adaptCluster(
  state: ClusterState,
  adaptive: DaskState['adaptive'],
  nowMs: number,
  asked: Asked = {},
): void {
  if (isOvertaken(state, 'adapt', asked)) return;
  if (state.dask === null || state.stopRequested !== null) return;
  // A scale request has already turned adaptive scaling off; this request only releases its reservation.
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
 * Follows a higher target of the scheduler at once. Closes a worker when the target has been lower for `scaleInAfterMs`, counted for each number of
 * workers separately, as Dask's own Adaptive does.
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

/** A number of workers that suffices proves that every larger number does too, so the larger numbers keep the earlier start. */
function noteEnough(fewer: DaskState['fewer'], wanted: number, nowMs: number): DaskState['fewer'] {
  const known = fewer.filter(({ workers }) => workers >= wanted);
  if (known.at(-1)?.workers === wanted) return known;
  const sinceMs = fewer.find(({ workers }) => workers < wanted)?.sinceMs ?? nowMs;
  return [...known, { workers: wanted, sinceMs }];
}

const hasSameMeasure = (a: Adaptive | null, b: Adaptive | null): boolean =>
  a?.targetDurationMs === b?.targetDurationMs && a?.intervalMs === b?.intervalMs;

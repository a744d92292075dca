// Warns of a cluster that costs money and has computed nothing for long, because its idle timeout allows it: an event, and a notification of the
// workspace (domain/notifications). The warning ends nothing.
import { spellDollars } from '../budget/dollars.ts';
import { spendingPerHour } from '../cost/ledger.ts';
import { spellDuration } from '../units.ts';
import type { Wake } from '../wake.ts';
import { addEvent } from './notes.ts';
import type { ClusterState } from './state.ts';

/** A working day: a cluster that was forgotten in the evening is reported by the morning. */
export const idleWarningAfterMs = 8 * 3_600_000;

/** Records the event once for each idle period. */
export function watchIdle(state: ClusterState, nowMs: number): void {
  const { dask } = state;
  if (dask === null || state.stopRequested !== null) return;
  if (dask.idleSinceMs === null) {
    delete dask.idleWarned;
    return;
  }
  if (dask.idleWarned === true || nowMs - dask.idleSinceMs < idleWarningAfterMs) return;
  dask.idleWarned = true;
  const perHour = spendingPerHour(state, nowMs);
  const cost = perHour === 0 ? '' : `, at ${spellDollars(perHour)} an hour`;
  addEvent(state, nowMs, 'IDLE_WARNING', `nothing was computed for ${spellDuration(idleWarningAfterMs)}${cost}`);
}

/** A cluster that ends earlier needs no warning, and its timers stay unchanged. */
export function idleWakes({ dask, settings }: ClusterState): Wake[] {
  if (dask === null || dask.idleSinceMs === null || dask.idleWarned === true) return [];
  if (settings.dask === null || settings.dask.idleTimeoutMs <= idleWarningAfterMs) return [];
  return [{ atMs: dask.idleSinceMs + idleWarningAfterMs, what: 'warning of no work at' }];
}

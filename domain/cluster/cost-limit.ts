// Ends a cluster that has reached its cost limit (`maxCost`). The time is computed from the prices of its instances, so a timer fires exactly then.
import { spellDollars } from '../budget/dollars.ts';
import { maxSpendingPerHour, spentMicros } from '../cost/ledger.ts';
import type { Reason } from '../reason.ts';
import type { Wake } from '../wake.ts';
import { addEvent } from './notes.ts';
import type { ClusterState } from './state.ts';

/** A cluster event warns at this share of the limit. */
export const warnShare = 0.8;

/** Billing counts whole seconds, so the next plan is at least this far away. */
const minWakeMs = 1_000;

export const maxCostReached = 'MAX_COST';

/** Returns the reason why this cluster ends now, or null while it is below its limit. */
export function costEnd(state: ClusterState, nowMs: number): Omit<Reason, 'atMs'> | null {
  const { maxCostMicros } = state.settings;
  if (maxCostMicros === undefined || state.stopRequested !== null) return null;
  const micros = spentMicros(state, nowMs);
  if (micros < maxCostMicros) return null;
  const text = `it has cost ${spellDollars(micros)}, and its limit (maxCost) is ${spellDollars(maxCostMicros)}`;
  return { code: maxCostReached, text };
}

/** Records the warning event once. */
export function watchCost(state: ClusterState, nowMs: number): void {
  const { maxCostMicros } = state.settings;
  if (maxCostMicros === undefined || state.costWarned === true || state.stopRequested !== null) return;
  const micros = spentMicros(state, nowMs);
  if (micros < maxCostMicros * warnShare) return;
  state.costWarned = true;
  const of = `${spellDollars(micros)} of its limit (maxCost) of ${spellDollars(maxCostMicros)}`;
  addEvent(state, nowMs, 'COST_WARNING', `the cluster has cost ${of}`);
}

/** The first minute of an instance is charged at once, and a known higher price counts from now on, so an estimate may be early; the plan at that time computes a new one. */
export function costWakes(state: ClusterState, nowMs: number): Wake[] {
  const { maxCostMicros } = state.settings;
  const perHour = maxSpendingPerHour(state, nowMs);
  if (maxCostMicros === undefined || perHour === 0) return [];
  const spent = spentMicros(state, nowMs);
  const at = (micros: number): number => nowMs + Math.max(minWakeMs, ((micros - spent) / perHour) * 3_600_000);
  const limit = { atMs: Math.ceil(at(maxCostMicros)), what: 'cost limit reached at' };
  if (state.costWarned === true) return [limit];
  return [{ atMs: Math.ceil(at(maxCostMicros * warnShare)), what: 'most of the cost limit used at' }, limit];
}

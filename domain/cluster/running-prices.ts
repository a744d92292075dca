// Prices of existing spot instances. A cloud changes them each hour, so the cluster reads once an hour what it charges: its cost, its limit (maxCost)
// and budgets then count each hour at its own price. Between two reads the newest price counts.
import { chargeRunning } from '../cost/ledger.ts';
import type { RunningCharge } from '../cost/interval.ts';
import type { Wake } from '../wake.ts';
import { readPricesEveryMs } from './limits.ts';
import type { ClusterInstance, ClusterState } from './state.ts';

/** The instances whose prices the cluster reads now. */
export function pricesToRead(state: ClusterState, nowMs: number): string[] {
  const atMs = readAtMs(state);
  return atMs === null || nowMs < atMs ? [] : changing(state).map(({ id }) => id);
}

export function priceWakes(state: ClusterState): Wake[] {
  const atMs = readAtMs(state);
  return atMs === null ? [] : [{ atMs, what: 'spot prices are read at' }];
}

/** Notes that a read begins. The next one comes an hour later, also without an answer. */
export function notePricesAsked(state: ClusterState): void {
  state.pricesAsked = { nextMs: readAtMs(state) ?? 0, underWay: true, changes: state.pricesAsked?.changes ?? 0 };
}

export function applyCharges(state: ClusterState, charges: readonly RunningCharge[], nowMs: number): void {
  const existing = new Map(changing(state).map((instance) => [instance.id, instance]));
  const changed = charges.filter((charge) => {
    const instance = existing.get(charge.id);
    return instance !== undefined && chargeRunning(state, instance, charge);
  });
  const { changes = 0 } = state.pricesAsked ?? {};
  const sinceMs = firstLaunchMs(state) ?? nowMs;
  const periods = Math.floor((nowMs - sinceMs) / readPricesEveryMs) + 1;
  state.pricesAsked = {
    nextMs: sinceMs + periods * readPricesEveryMs,
    underWay: false,
    changes: changes + Math.sign(changed.length),
  };
}

/** The hours of the oldest instance: instances that were launched together are read when their new price begins. */
function readAtMs(state: ClusterState): number | null {
  const sinceMs = firstLaunchMs(state);
  if (sinceMs === null || state.pricesAsked?.underWay === true) return null;
  return Math.max(sinceMs + readPricesEveryMs, state.pricesAsked?.nextMs ?? 0);
}

const firstLaunchMs = (state: ClusterState): number | null =>
  changing(state).reduce<number | null>(
    (first, { launchedAtMs }) => Math.min(first ?? launchedAtMs, launchedAtMs),
    null,
  );

const changing = ({ instances }: ClusterState): ClusterInstance[] =>
  instances.filter(({ later, state }) => later !== undefined && state !== 'stopping');

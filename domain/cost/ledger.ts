// The cost ledger as the cluster's state has it: entries that the database does not have yet. An entry leaves the state only
// after a write that contained it, so that neither a crash nor a lost answer loses an instance.
import type { ClusterInstance, ClusterState } from '../cluster/state.ts';
import { totalCost } from './amount.ts';
import { hourlyMicros, type CostInterval, type Lifetime } from './interval.ts';

/** An instance exists: from the launch request on, which is never later than the cloud's own time. */
export function openInterval(state: ClusterState, instance: ClusterInstance): void {
  put(state, intervalOf(instance, null));
}

/** An instance has ended: its cloud's own times count where it reports them. */
export function closeInterval(
  state: ClusterState,
  instance: ClusterInstance,
  lifetime: Lifetime | undefined,
  nowMs: number,
): void {
  // The time that was announced to an interrupted spot instance.
  const toMs = Math.min(nowMs, instance.agent?.terminatesAtMs ?? nowMs);
  const times = lifetime === undefined ? {} : timesOf(lifetime, toMs);
  close(state, { ...intervalOf(instance, toMs), ...times }, nowMs);
}

/**
 * Instances that no launch had returned: they were launched, and cost money. Those that were terminated a moment ago may still be
 * listed: they have an entry, with the price at their launch.
 */
export function addUnknown(state: ClusterState, lifetimes: readonly Lifetime[], nowMs: number): void {
  const known = new Set(state.costs.map(({ instance }) => instance));
  for (const lifetime of lifetimes.filter(({ id }) => !known.has(id))) {
    const { id, role, type, zone, market, price } = lifetime;
    close(state, { instance: id, role, type, zone, market, ...price, ...timesOf(lifetime, nowMs) }, nowMs);
  }
}

/** What the cluster has cost: its ended instances, and those that exist, each with its first minute from its launch on. */
export const spentMicros = ({ endedMicros = 0, instances }: ClusterState, nowMs: number): number =>
  instances.reduce((sum, instance) => {
    const interval = intervalOf(instance, null);
    return sum + totalCost([interval], Math.max(nowMs, interval.fromMs + 1));
  }, endedMicros);

/** What its existing instances cost an hour. */
export const spendingPerHour = ({ instances }: ClusterState): number =>
  instances.reduce((sum, { price }) => sum + hourlyMicros(price), 0);

/** An ended instance's entry leaves the state once it is written: its amount stays. */
function close(state: ClusterState, entry: CostInterval, nowMs: number): void {
  // Its first minute counts from the moment after its launch.
  const untilMs = Math.max(nowMs, entry.toMs ?? nowMs, entry.fromMs + 1);
  state.endedMicros = (state.endedMicros ?? 0) + totalCost([entry], untilMs);
  put(state, entry);
}

/** Entries that `written` contained and that have not changed since are in the database. */
export function forgetWritten(state: Pick<ClusterState, 'costs'>, written: readonly CostInterval[]): void {
  const known = new Set(written.map(keyOf));
  state.costs = state.costs.filter((entry) => !known.has(keyOf(entry)));
}

/** The entries of a cluster: `held` by its workflow, and `written` to the database. Of the same instance, one that has an end is the newer one. */
export function mergeEntries(held: readonly CostInterval[], written: readonly CostInterval[]): CostInterval[] {
  const entries = new Map(held.map((entry) => [entry.instance, entry]));
  for (const entry of written) {
    if (entry.toMs !== null || !entries.has(entry.instance)) entries.set(entry.instance, entry);
  }
  return [...entries.values()];
}

const keyOf = ({ instance, toMs }: CostInterval): string => `${instance} ${toMs ?? 'open'}`;

const timesOf = ({ launchedAtMs, endedAtMs }: Lifetime, otherwiseMs: number) => ({
  fromMs: launchedAtMs,
  toMs: Math.max(launchedAtMs, endedAtMs ?? otherwiseMs),
});

const intervalOf = (instance: ClusterInstance, toMs: number | null): CostInterval => ({
  instance: instance.id,
  role: instance.role,
  type: instance.offer,
  zone: instance.zone,
  market: instance.market,
  ...instance.price,
  fromMs: instance.stages.requestedAtMs,
  toMs,
});

function put(state: ClusterState, entry: CostInterval): void {
  const tags = state.settings.machines?.tags;
  const tagged = tags === undefined ? entry : { ...entry, tags };
  state.costs = [...state.costs.filter(({ instance }) => instance !== entry.instance), tagged];
}

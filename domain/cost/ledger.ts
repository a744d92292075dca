// The part of the cost ledger in the cluster's state: entries that are not yet in the database. An entry leaves the state only after a write that
// contained it, so neither a crash nor a lost answer loses an instance.
import type { ClusterInstance, ClusterState } from '../cluster/state.ts';
import { totalCost } from './amount.ts';
import { hourlyMicrosAt, type CostInterval, type Lifetime, type RunningCharge } from './interval.ts';

/** Opens the entry of an instance, from its launch request on, which is never later than the cloud's own time. */
export function openInterval(state: ClusterState, instance: ClusterInstance): void {
  put(state, intervalOf(instance, null));
}

/** Closes the entry of an instance; the cloud's own times count where it reports them. */
export function closeInterval(
  state: ClusterState,
  instance: ClusterInstance,
  lifetime: Lifetime | undefined,
  nowMs: number,
): void {
  // `terminatesAtMs`: the announced end of an interrupted spot instance.
  const toMs = Math.min(nowMs, instance.agent?.terminatesAtMs ?? nowMs);
  const times = lifetime === undefined ? {} : timesOf(lifetime, toMs);
  const entry = { ...intervalOf(instance, toMs), ...times };
  close(state, { ...entry, ...chargesOf(lifetime, entry.toMs ?? toMs) }, nowMs);
}

/**
 * Adds instances that no launch had returned: they were launched and cost money. Just-terminated instances may still be listed; they already have an
 * entry, with the price at their launch.
 */
export function addUnknown(state: ClusterState, lifetimes: readonly Lifetime[], nowMs: number): void {
  const known = new Set(state.costs.map(({ instance }) => instance));
  for (const lifetime of lifetimes.filter(({ id }) => !known.has(id))) {
    const { id, role, type, zone, market, price } = lifetime;
    const times = timesOf(lifetime, nowMs);
    close(
      state,
      { instance: id, role, type, zone, market, ...price, ...times, ...chargesOf(lifetime, times.toMs) },
      nowMs,
    );
  }
}

/** The cluster's cost: that of its ended instances and of the existing ones, each with its first minute from its launch. */
export const spentMicros = ({ endedMicros = 0, instances }: ClusterState, nowMs: number): number =>
  instances.reduce((sum, instance) => {
    const interval = intervalOf(instance, null);
    return sum + totalCost([interval], Math.max(nowMs, interval.fromMs + 1));
  }, endedMicros);

/** The hourly cost of its existing instances. */
export const spendingPerHour = ({ instances }: ClusterState, nowMs: number): number =>
  instances.reduce((sum, { price, later = [] }) => sum + hourlyMicrosAt({ ...price, later }, nowMs), 0);

/** The same at the highest prices that are known from now on. */
export const maxSpendingPerHour = ({ instances }: ClusterState, nowMs: number): number =>
  instances.reduce((sum, { price, later = [] }) => {
    const moments = [nowMs, ...later.map(({ fromMs }) => fromMs).filter((fromMs) => fromMs > nowMs)];
    return sum + Math.max(...moments.map((atMs) => hourlyMicrosAt({ ...price, later }, atMs)));
  }, 0);

/** Replaces the prices of an instance that exists by those that its cloud charges until now. True when they changed. */
export function chargeRunning(
  state: ClusterState,
  instance: ClusterInstance,
  { microsPerHour, source, later }: RunningCharge,
): boolean {
  const known = keyOf(intervalOf(instance, null));
  instance.price = { ...instance.price, microsPerHour, source };
  instance.later = later;
  const entry = intervalOf(instance, null);
  if (keyOf(entry) === known) return false;
  put(state, entry);
  return true;
}

/** The entry of an ended instance leaves the state once it is written; its amount stays. */
function close(state: ClusterState, entry: CostInterval, nowMs: number): void {
  // The first minute is charged from the moment after the launch.
  const untilMs = Math.max(nowMs, entry.toMs ?? nowMs, entry.fromMs + 1);
  state.endedMicros = (state.endedMicros ?? 0) + totalCost([entry], untilMs);
  put(state, entry);
}

/** Drops entries in `written` that have not changed since, because they are in the database. */
export function forgetWritten(state: Pick<ClusterState, 'costs'>, written: readonly CostInterval[]): void {
  const known = new Set(written.map(keyOf));
  state.costs = state.costs.filter((entry) => !known.has(keyOf(entry)));
}

/**
 * Merges the entries `held` by the cluster's workflow with those `written` to the database. Of two entries for one instance, the one with an end is
 * newer.
 */
export function mergeEntries(held: readonly CostInterval[], written: readonly CostInterval[]): CostInterval[] {
  const entries = new Map(held.map((entry) => [entry.instance, entry]));
  for (const entry of written) {
    if (entry.toMs !== null || !entries.has(entry.instance)) entries.set(entry.instance, entry);
  }
  return [...entries.values()];
}

/** Equal for entries with equal contents: the others are constant in the life of an instance. */
const keyOf = ({ instance, toMs, microsPerHour, later = [] }: CostInterval): string =>
  JSON.stringify([instance, toMs, microsPerHour, ...later.map((each) => [each.fromMs, each.microsPerHour])]);

const timesOf = ({ launchedAtMs, endedAtMs }: Lifetime, otherwiseMs: number) => ({
  fromMs: launchedAtMs,
  toMs: Math.max(launchedAtMs, endedAtMs ?? otherwiseMs),
});

/** The cloud's own prices, when it reports the charges until then. */
function chargesOf(lifetime: Lifetime | undefined, untilMs: number): Partial<CostInterval> {
  if (lifetime?.later === undefined) return {};
  const { microsPerHour, source } = lifetime.price;
  const later = lifetime.later.filter(({ fromMs }) => fromMs < untilMs);
  return { microsPerHour, source, ...(later.length === 0 ? {} : { later }) };
}

const intervalOf = (instance: ClusterInstance, toMs: number | null): CostInterval => ({
  instance: instance.id,
  role: instance.role,
  type: instance.offer,
  zone: instance.zone,
  market: instance.market,
  ...instance.price,
  fromMs: instance.stages.requestedAtMs,
  toMs,
  ...(instance.later === undefined || instance.later.length === 0 ? {} : { later: instance.later }),
});

function put(state: ClusterState, entry: CostInterval): void {
  const tags = state.settings.machines?.tags;
  const tagged = tags === undefined ? entry : { ...entry, tags };
  state.costs = [...state.costs.filter(({ instance }) => instance !== entry.instance), tagged];
}

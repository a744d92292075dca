// A cluster of spot instances with a cost limit, planned only at its wake-ups, while the spot price moves: its bill exceeds the limit by at most the
// spending between two reads of the prices.
import { expect, it } from 'vitest';

import { applyLaunch, applyTerminated } from '../../../domain/cluster/apply.ts';
import { costEnd, costWakes, watchCost } from '../../../domain/cluster/cost-limit.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { readPricesEveryMs } from '../../../domain/cluster/limits.ts';
import { applyCharges, notePricesAsked, pricesToRead, priceWakes } from '../../../domain/cluster/running-prices.ts';
import { spendingPerHour } from '../../../domain/cost/ledger.ts';
import { chargedPrices, maxRunningChanges, type SpotPrice } from '../../../domain/cost/spot-prices.ts';
import { createRandom } from '../../support/random.ts';

const simulations = 300;
const hourMs = 3_600_000;

interface Life {
  fromMs: number;
  toMs: number | null;
}

/** EC2's rule, for the exact sum: each hour since the launch at the price of its beginning, at least a minute. */
function billOf({ fromMs, toMs }: Life, prices: readonly SpotPrice[], nowMs: number): number {
  const seconds = Math.max(60, Math.ceil(((toMs ?? nowMs) - fromMs) / 1_000));
  let micros = 0;
  for (let second = 0; second < seconds; second += 3_600) {
    const atMs = fromMs + second * 1_000;
    const price = prices.findLast((each) => each.atMs <= atMs)?.microsPerHour ?? 0;
    micros += (Math.min(3_600, seconds - second) * price) / 3_600;
  }
  return micros;
}

it('ends at most the spending of one interval beyond its limit, however the spot price rises', () => {
  const met = { end: 0, rise: 0, fall: 0, failedRead: 0, wouldExceed: 0 };
  for (let seed = 1; seed <= simulations; seed += 1) {
    const random = createRandom(seed);
    const between = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
    const startMs = 1_790_000_000_000;
    let nowMs = startMs;
    const prices: SpotPrice[] = [{ atMs: startMs - between(0, 5 * hourMs), microsPerHour: between(20_000, 200_000) }];
    // Known in advance only to the bill: changes every few minutes to every few hours, mostly upwards.
    for (let atMs = startMs; atMs < startMs + 90 * hourMs; atMs += between(10 * 60_000, 6 * hourMs)) {
      const last = prices.at(-1)?.microsPerHour ?? 0;
      const microsPerHour = Math.round(Math.max(10_000, last * (random() < 0.6 ? 1 + random() : random())));
      prices.push({ atMs: atMs + 1, microsPerHour: Math.min(5_000_000, microsPerHour) });
    }
    const maxCostMicros = between(300_000, 6_000_000);
    const state = createClusterState(
      { number: 1, workspace: 'w', user: 'ada', createdAtMs: nowMs },
      {
        ...{ name: '', job: null, instances: 10, provider: 'p', providerQueue: 'q', instanceVcpus: 1, dask: null },
        ...{ registerTimeoutMs: 60_000, maxCostMicros },
      },
    );
    const lives = new Map<string, Life>();
    const launchPrices = new Map<number, number>();
    const priceNow = (): number => prices.findLast(({ atMs }) => atMs <= nowMs)?.microsPerHour ?? 0;
    const bill = (): number => [...lives.values()].reduce((sum, life) => sum + billOf(life, prices, nowMs), 0);
    const launch = (slot: number): void => {
      const price = { microsPerHour: priceNow(), diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: '' };
      state.launches.push({ seq: slot, slots: [slot], atMs: nowMs });
      const launched = [{ id: `i_${slot}`, slot, offer: 'm', zone: 'a', price, hasLaterPrices: true as const }];
      applyLaunch(state, slot, { launched, failures: [] }, nowMs);
      lives.set(`i_${slot}`, { fromMs: nowMs, toMs: null });
      launchPrices.set(nowMs, price.microsPerHour);
    };
    const end = (gone: (typeof state.instances)[number] | undefined): void => {
      if (gone === undefined) return;
      const { id, launchedAtMs, role } = gone;
      const times = { launchedAtMs, endedAtMs: nowMs };
      const { microsPerHour = 0, later = [] } = chargedPrices(prices, times) ?? {};
      const lifetime = { id, role, market: 'spot' as const, type: 'm', zone: 'a', later, ...times };
      lives.set(id, { fromMs: launchedAtMs, toMs: nowMs });
      applyTerminated(state, [id], nowMs, [{ ...lifetime, price: { ...gone.price, microsPerHour } }]);
    };
    const chargesNow = () =>
      state.instances.flatMap(({ id, launchedAtMs }) => {
        const known = prices.filter(({ atMs }) => atMs <= nowMs);
        const charged = chargedPrices(known, { launchedAtMs, endedAtMs: null }, maxRunningChanges);
        return charged === null ? [] : [{ id, ...charged, source: 'read' }];
      });
    /** The last read that left the cluster running: until then the sum is exact. */
    let exact = { atMs: nowMs, micros: 0, failed: 0 };
    for (let slot = 0; slot < 5; slot += 1) launch(slot);
    let next = 5;
    for (let wakes = 0; wakes < 3_000 && costEnd(state, nowMs) === null && nowMs < startMs + 80 * hourMs; wakes += 1) {
      if (pricesToRead(state, nowMs).length > 0) {
        notePricesAsked(state);
        expect(pricesToRead(state, nowMs)).toEqual([]);
        const before = spendingPerHour(state, nowMs);
        const isFailed = random() < 0.1;
        applyCharges(state, isFailed ? [] : chargesNow(), nowMs);
        if (costEnd(state, nowMs) !== null) break;
        exact = isFailed ? { ...exact, failed: exact.failed + 1 } : { atMs: nowMs, micros: bill(), failed: 0 };
        if (isFailed) met.failedRead += 1;
        if (spendingPerHour(state, nowMs) > before) met.rise += 1;
        if (spendingPerHour(state, nowMs) < before) met.fall += 1;
        expect(state.instances.every(({ later = [] }) => later.length <= maxRunningChanges)).toBe(true);
        const change = random();
        if (change < 0.3) launch(next++);
        else if (change < 0.5 && state.instances.length > 1) end(state.instances[between(0, 1)]);
      }
      watchCost(state, nowMs);
      const times = [...costWakes(state, nowMs), ...priceWakes(state)].map(({ atMs }) => atMs);
      nowMs = Math.max(nowMs + 1_000, Math.min(...times));
    }
    if (costEnd(state, nowMs) === null) continue;
    met.end += 1;
    // So the bill exceeds the limit by less than the spending since that read.
    expect(exact.micros).toBeLessThanOrEqual(maxCostMicros + lives.size * 100);
    expect(nowMs - exact.atMs).toBeLessThanOrEqual((exact.failed + 1) * readPricesEveryMs + 2_000);
    const atLaunchPrices = state.instances.reduce(
      (sum, { launchedAtMs }) => sum + ((launchPrices.get(launchedAtMs) ?? 0) * (nowMs - launchedAtMs)) / hourMs,
      state.endedMicros ?? 0,
    );
    if (maxCostMicros > atLaunchPrices * 1.25) met.wouldExceed += 1;
  }
  expect(Math.min(...Object.values(met))).toBeGreaterThan(20);
});

// The cost ledger in the database against the bill of the emulated cloud, over random runs with kills: the same instances, their
// times to the second, and the same sum.
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { amountIn } from '../../../domain/cost/amount.ts';
import type { CostInterval } from '../../../domain/cost/interval.ts';
import { openMemoryStore } from '../../../store/open.ts';
import type { Store } from '../../../store/store.ts';
import { ledgerPlan, ledgerSubjects, runLedger, type LedgerRun } from '../../builders/ledger-simulation.ts';
import { describeShares } from '../../builders/simulations.ts';
import { aClusterView, addWorkspace, opened } from '../../store/fixtures.ts';
import { simulationRuns } from '../../support/fuzz-options.ts';

/** At most as many as the documents promise; `npm test` runs fewer. */
const numRuns = Math.min(1_000, simulationRuns(process.env));
const farMs = 4_000_000_000_000;

let store: Store;
beforeEach(async () => {
  store = await openMemoryStore();
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

it(`is the bill to the second and the cent, over ${numRuns} random runs with kills`, async () => {
  const counts = new Map<string, number>(ledgerSubjects.map((subject) => [subject, 0]));
  let instances = 0;
  let unnamed = 0;
  const { slug } = await addWorkspace(store, { running: 100_000, instances: 1_000_000, vcpus: 1_000_000 });
  await fc.assert(
    fc.asyncProperty(ledgerPlan, async (plan) => {
      const { number } = await opened(store, slug, { kind: 'cluster' });
      let version = 0;
      const run = await runLedger(plan, {
        setTime: (ms) => vi.setSystemTime(ms),
        write: async (costs) => {
          version += 1;
          await store.clusters.project({
            view: { ...aClusterView(slug, number), costs: [...costs] },
            version,
            nowMs: Date.now(),
          });
        },
      });
      const ledger = (await store.costs.ofClusters([number])).get(number) ?? [];
      if (ledger.some(({ later }) => later !== undefined)) run.met.add('price change');
      expectBill(ledger, run);
      for (const subject of run.met) counts.set(subject, (counts.get(subject) ?? 0) + 1);
      instances += run.cloud.entries().filter(({ event }) => event === 'launched').length;
      unnamed += run.unnamed.size;
      const view = aClusterView(slug, number, { endedAtMs: Date.now() });
      await store.clusters.end({ view, version: version + 1, release: true, nowMs: Date.now() });
    }),
    { numRuns },
  );
  const shares = Object.fromEntries([...counts].map(([subject, count]) => [subject, count / numRuns]));
  console.log(`${instances} instances, ${unnamed} without a time of EC2; ${describeShares(shares)}`);
  for (const [subject, share] of Object.entries(shares)) expect([subject, share > 0.02]).toEqual([subject, true]);
});

function expectBill(ledger: readonly CostInterval[], { cloud, unnamed, endedMicros, found }: LedgerRun): void {
  const ids = cloud.entries().flatMap(({ event, id }) => (event === 'launched' ? [id] : []));
  expect(ledger.map(({ instance }) => instance).toSorted()).toEqual(ids.toSorted());
  const microsOf = (interval: CostInterval): number => amountIn(interval, { fromMs: 0, untilMs: farMs }).micros;
  let [booked, billed] = [0, 0];
  for (const interval of ledger) {
    const bill = cloud.billOf(interval.instance);
    if (unnamed.has(interval.instance)) {
      // The control plane's own times are never too short.
      expect(interval.fromMs).toBeLessThan(bill.launchedAtMs + 1_000);
      expect(interval.toMs).toBeGreaterThanOrEqual(bill.endedAtMs);
      continue;
    }
    expect([interval.fromMs, interval.toMs]).toEqual([bill.launchedAtMs, bill.endedAtMs]);
    booked += microsOf(interval);
    billed += bill.micros;
  }
  // Each entry is rounded to a millionth of a dollar: far below a cent.
  expect(Math.abs(booked - billed)).toBeLessThanOrEqual(ledger.length * 0.5 + 1e-3);
  const counted = ledger.filter(({ instance }) => !found.has(instance));
  expect(endedMicros).toBe(counted.reduce((sum, interval) => sum + microsOf(interval), 0));
}

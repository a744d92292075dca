// A cluster with a cost limit, planned only at its wake-ups: it ends at most two seconds' price beyond its limit.
import { expect, it } from 'vitest';

import { costEnd, costWakes, watchCost } from '../../../domain/cluster/cost-limit.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { applyLaunch, applyTerminated } from '../../../domain/cluster/apply.ts';
import { spendingPerHour, spentMicros } from '../../../domain/cost/ledger.ts';
import { createRandom } from '../../support/random.ts';

const simulations = 300;

it('ends when its limit is reached, whatever comes and goes, and warns once before', () => {
  let ends = 0;
  for (let seed = 1; seed <= simulations; seed += 1) {
    const random = createRandom(seed);
    const between = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
    const maxCostMicros = between(50_000, 20_000_000);
    let nowMs = 1_000_000;
    const state = createClusterState(
      { number: 1, workspace: 'w', user: 'ada', createdAtMs: nowMs },
      {
        ...{ name: '', job: null, instances: 10, provider: 'p', providerQueue: 'q', instanceVcpus: 1, dask: null },
        ...{ registerTimeoutMs: 60_000, maxCostMicros },
      },
    );
    let before = 0;
    let wakes = 0;
    for (let change = 0; costEnd(state, nowMs) === null && change < 40; change += 1) {
      const [instance] = state.instances.filter(() => random() < 0.3);
      if (instance !== undefined && state.instances.length > 1) applyTerminated(state, [instance.id], nowMs);
      else {
        const price = {
          microsPerHour: between(10_000, 5_000_000),
          diskMicrosPerHour: between(0, 9_000),
          addressMicrosPerHour: between(0, 5_000),
          source: '',
        };
        state.launches.push({ seq: change, slots: [change], atMs: nowMs });
        const launched = [{ id: `i_${change}`, slot: change, offer: 'm', zone: 'a', price }];
        applyLaunch(state, change, { launched, failures: [] }, nowMs);
      }
      // The minimum of a minute is charged at the launch.
      before = spentMicros(state, nowMs);
      const untilMs = nowMs + between(1_000, 1_200_000);
      while (nowMs < untilMs && costEnd(state, nowMs) === null) {
        watchCost(state, nowMs);
        before = spentMicros(state, nowMs);
        nowMs = Math.min(untilMs, ...costWakes(state, nowMs).map(({ atMs }) => atMs));
        wakes += 1;
      }
    }
    // The number of wake-ups is bounded: a few for each change.
    expect(wakes).toBeLessThan(2_000);
    if (costEnd(state, nowMs) === null) continue;
    ends += 1;
    watchCost(state, nowMs);
    const beyond = spentMicros(state, nowMs) - maxCostMicros;
    expect(before >= maxCostMicros || beyond <= (spendingPerHour(state, nowMs) * 2) / 3_600 + 10).toBe(true);
    expect(state.events.filter(({ code }) => code === 'COST_WARNING')).toHaveLength(1);
  }
  expect(ends).toBeGreaterThan(simulations / 4);
});

// The cost limit of a cluster's workflow in skipped time.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { clusterMessages, type ClusterView } from '../../contracts/cluster.ts';
import { totalCost } from '../../domain/cost/amount.ts';
import { eventually } from '../support/eventually.ts';
import { type Bed, createBed, launchAll } from '../support/workflow-bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await createBed();
}, 120_000);
afterAll(() => bed?.stop());

const handleOf = (number: number) => bed.env.client.workflow.getHandle<() => Promise<ClusterView>>(`cluster/${number}`);
const view = (number: number): Promise<ClusterView> => handleOf(number).query<ClusterView>(clusterMessages.view);
const scheduler = { state: 'started', name: 'scheduler', stage: 'dask', address: 'tls://s', reason: null } as const;

describe('a cluster with a cost limit', () => {
  it('ends when it has cost as much as it may, by a timer that meets that moment', async () => {
    const price = { microsPerHour: 1_000_000, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'a test' };
    bed.launch = (input) => ({
      launched: launchAll(input).launched.map((each) => ({ ...each, price })),
      failures: [],
    });
    const number = await bed.startCluster({ instances: 2, maxCostMicros: 50_000 });
    const ended = await handleOf(number).result();
    bed.launch = launchAll;
    expect(ended).toMatchObject({ status: 'stopped', reason: { code: 'MAX_COST' } });
    expect(ended.events.filter(({ code }) => code === 'COST_WARNING')).toHaveLength(1);
    // Two instances of a dollar an hour: a minute and a half.
    const cost = (await bed.store.costs.ofClusters([number])).get(number) ?? [];
    const micros = totalCost(cost, ended.endedAtMs ?? 0);
    expect([cost.length, micros >= 50_000, micros < 53_000]).toEqual([2, true, true]);
  });

  it('counts each hour of a spot instance at its own price, also when a read of the prices fails first', async () => {
    const price = { microsPerHour: 1_000_000, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'a test' };
    bed.launch = (input) => ({
      launched: launchAll(input).launched.map((each) => ({ ...each, price, hasLaterPrices: true as const })),
      failures: [],
    });
    let reads = 0;
    bed.charges = async (ids) => {
      reads += 1;
      if (reads === 1) throw new Error('the cloud does not answer');
      const later = [{ fromMs: launchedAtMs + 3_600_000, microsPerHour: 3_000_000 }];
      return ids.map((id) => ({ id, microsPerHour: 1_000_000, later, source: 'by the hour' }));
    };
    const number = await bed.startCluster({ instances: 1, maxCostMicros: 4_000_000 });
    const launchedAtMs = await bed.env.currentTimeMs();
    await eventually(async () => (await view(number)).instances.length === 1);
    await bed.report(number, { kind: 'register' });
    await bed.report(number, { process: scheduler });
    const entryNow = async () => (await bed.store.costs.ofClusters([number])).get(number)?.[0];
    await bed.env.sleep('70m');
    // The ledger has the new price while the instance exists.
    await eventually(async () => (await entryNow())?.later?.length === 1);
    const ended = await handleOf(number).result();
    Object.assign(bed, { launch: launchAll, charges: async () => [] });
    expect(ended).toMatchObject({ status: 'stopped', reason: { code: 'MAX_COST' } });
    // A dollar in the first hour and three in the second, instead of four hours at the launch price.
    const hours = ((ended.endedAtMs ?? 0) - launchedAtMs) / 3_600_000;
    expect([reads >= 2, hours > 1.9, hours < 2.1]).toEqual([true, true, true]);
  });
});

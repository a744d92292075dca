// The templates of spot launches tag their spot requests, those of on-demand launches must not: EC2 refuses them. Each launch has
// templates of its own, also where a cluster falls back from one market to the other. Oracle: the emulated cloud.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { startCloud } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { createEc2Cluster } from './cluster.ts';
import { inSimulatedTime } from './simulated-time.ts';

describe.each([
  { by: 'fleets', noFleets: false },
  { by: 'single launches', noFleets: true },
])('a cluster that falls back from spot to on demand, by $by', ({ noFleets }) => {
  let cloud: TestCloud;
  beforeEach(async () => {
    cloud = inSimulatedTime(await startCloud());
    const refused = { kind: 'error', code: 'UnauthorizedOperation', status: 403, times: 1_000 } as const;
    if (noFleets) await cloud.emulator.send({ op: 'fault', fault: { action: 'CreateFleet', ...refused } });
  });
  afterEach(() => cloud.close());

  it('gets both, and tags the spot requests of one and nothing of the other', async () => {
    for (const letter of ['a', 'b', 'c']) {
      const pool = `m6i.large/us-east-1${letter}/spot`;
      await cloud.emulator.send({ op: 'capacity', pool, instances: letter === 'b' ? 2 : 0 });
    }
    const machines = { spotPolicy: 'spot_with_fallback' as const, workerTypes: ['m6i.large'] };
    const cluster = createEc2Cluster(cloud, {
      instances: 5,
      machines,
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    });
    await cluster.runUntil(() => cluster.state.instances.length === 5);
    const seen = await cloud.emulator.instances();
    expect(seen.map(({ market }) => market).toSorted()).toEqual([
      ...['on-demand', 'on-demand', 'on-demand'],
      ...['spot', 'spot'],
    ]);
    for (const { market, spotRequestTags } of seen) {
      expect(Object.keys(spotRequestTags).includes('ropewalk:cluster')).toBe(market === 'spot');
    }
  });
});

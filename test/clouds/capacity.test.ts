// A cloud without capacity: in one zone, on the spot market, or for a while anywhere. Oracle: the cloud's ledger.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Market } from '../../providers/provider.ts';
import { clusterStatus } from '../../domain/cluster/status.ts';
import { clouds } from '../support/clouds.ts';
import type { StartedCloud } from '../support/clouds.ts';
import { createEmulatedCluster } from './cluster.ts';
import type { EmulatedCluster, EmulatedClusterOptions } from './cluster.ts';

describe.each(clouds)('a cluster on $title', ({ start, types, zones }) => {
  let cloud: StartedCloud;
  beforeEach(async () => {
    cloud = await start();
  });
  afterEach(() => cloud.close());

  const room = async (instances: number | null, market: Market, inZones = zones): Promise<void> => {
    for (const zone of inZones)
      for (const type of types) {
        await cloud.emulator.send({ op: 'capacity', pool: `${type}/${zone}/${market}`, instances });
      }
  };
  const create = (machines: EmulatedClusterOptions['machines']): EmulatedCluster =>
    createEmulatedCluster(cloud, {
      instances: 4,
      ...(machines === undefined ? {} : { machines }),
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    });
  const launched = async () => (await cloud.emulator.ledger()).entries.filter(({ event }) => event === 'launched');

  it('starts as a whole in a zone that has room, whichever zone has none', async () => {
    for (const full of zones) {
      await room(null, 'on-demand');
      await room(0, 'on-demand', [full]);
      const before = (await launched()).length;
      const cluster = create({});
      await cluster.runUntil(() => clusterStatus(cluster.state) === 'ready');
      const own = (await launched()).slice(before);
      expect([own.length, new Set(own.map(({ zone }) => zone)).size]).toEqual([4, 1]);
      expect(own.map(({ zone }) => zone)).not.toContain(full);
      await cluster.stop();
      expect((await cloud.emulator.ledger()).live).toEqual([]);
    }
  });

  it('takes the workers on demand that the spot market refuses, and no more than were asked for', async () => {
    await room(0, 'spot');
    await cloud.emulator.send({ op: 'capacity', pool: `${types[0]}/${zones[1]}/spot`, instances: 1 });
    const cluster = create({ spotPolicy: 'spot_with_fallback' });
    await cluster.runUntil(() => clusterStatus(cluster.state) === 'ready');
    const own = await launched();
    expect(own.map(({ market }) => market).toSorted()).toEqual(['on-demand', 'on-demand', 'on-demand', 'spot']);
    expect((await cloud.emulator.ledger()).live).toHaveLength(4);
    await cluster.stop();
    expect((await cloud.emulator.ledger()).live).toEqual([]);
  });

  it('launches nothing while there is no room anywhere, says why, and starts when there is', async () => {
    await room(0, 'on-demand');
    const cluster = create({});
    const bornMs = cluster.nowMs();
    await cluster.runUntil(() => cluster.nowMs() > bornMs + 60_000);
    expect(await launched()).toEqual([]);
    expect(
      Object.values(cluster.state.failures)
        .map(({ text }) => text)
        .join(),
    ).toMatch(/capacity/i);
    await room(null, 'on-demand');
    await cluster.runUntil(() => clusterStatus(cluster.state) === 'ready');
    expect((await cloud.emulator.ledger()).live).toHaveLength(4);
    await cluster.stop();
    expect((await cloud.emulator.ledger()).live).toEqual([]);
  });
});

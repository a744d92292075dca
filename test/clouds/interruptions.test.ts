// R6: thirty of a hundred spot instances are interrupted at once. Replacements are requested at the same moment, outside the
// pools without capacity, and the live instances never exceed the target plus the leaving ones. Oracle: the cloud's ledger.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { applyReport } from '../../domain/cluster/apply.ts';
import type { ClusterInstance } from '../../domain/cluster/state.ts';
import { interruptedGraceMs } from '../../domain/cluster/limits.ts';
import { clusterStatus } from '../../domain/cluster/status.ts';
import { clouds } from '../support/clouds.ts';
import type { StartedCloud } from '../support/clouds.ts';
import { eventually } from '../support/eventually.ts';
import { createEmulatedCluster } from './cluster.ts';
import type { EmulatedCluster } from './cluster.ts';
import { dollars } from './money.ts';

describe.each(clouds)('30 of 100 spot instances of $title interrupted at once', (tested) => {
  const { noticeMs, types } = tested;
  let cloud: StartedCloud;
  beforeEach(async () => {
    cloud = await tested.start();
  });
  afterEach(() => cloud.close());

  /** Work of half a notice's length; an interrupted worker finishes its current work and begins no more. */
  function createWork(units: number) {
    let open = units;
    const done = new Set<number>();
    const leaving = new Set<string>();
    return {
      leaving,
      isDone: () => done.size === units,
      round(cluster: EmulatedCluster): void {
        for (const { id, state, role } of cluster.state.instances) {
          if (state !== 'ready' || role === 'head' || leaving.has(id) || open === 0) continue;
          open -= 1;
          done.add(open);
        }
      },
    };
  }

  it('are replaced while they still work, by other types, then on demand; all work is done and no instance is left', async () => {
    const work = createWork(400);
    let mostLive = 0;
    const cluster = createEmulatedCluster(cloud, {
      instances: 101,
      machines: { spotPolicy: 'spot_with_fallback', workerTypes: types.slice(0, 2) },
      launched: (each, instances) => instances.forEach((one) => each.register(one)),
      async watch({ state }) {
        const { live } = await cloud.emulator.ledger();
        const leaving = live.filter((id) => work.leaving.has(id));
        mostLive = Math.max(mostLive, live.length);
        expect(live.length).toBeLessThanOrEqual(state.target + leaving.length);
      },
    });
    const interrupt = async (instances: ClusterInstance[]): Promise<void> => {
      for (const { id } of instances) {
        work.leaving.add(id);
        await cloud.emulator.send({ op: 'interrupt', id, inMs: noticeMs });
        const interruption = { kind: 'terminate', at: new Date(cluster.nowMs() + noticeMs).toISOString() } as const;
        const said = { instance: id, bootId: `boot of ${id}`, address: '10.0.0.1' };
        applyReport(cluster.state, { ...said, kind: 'alive', interruption }, cluster.nowMs());
      }
    };
    const workers = (): ClusterInstance[] =>
      cluster.state.instances.filter(
        ({ id, role, state }) => role === 'worker' && state === 'ready' && !work.leaving.has(id),
      );
    /** Every other one reports that it leaves before its end; the rest fall silent. */
    const end = async (gone: ClusterInstance[]): Promise<void> => {
      await cluster.advance(noticeMs - 15_000);
      for (const { id } of gone.filter((_, at) => at % 2 === 0)) {
        const said = { instance: id, bootId: `boot of ${id}`, address: '10.0.0.1' };
        applyReport(cluster.state, { ...said, kind: 'leaving' }, cluster.nowMs());
      }
      await cluster.settle();
      await cluster.advance(15_000);
      await eventually(async () => {
        const { live } = await cloud.emulator.ledger();
        return gone.every(({ id }) => !live.includes(id)) || null;
      });
      await cluster.advance(interruptedGraceMs);
      await cluster.settle();
    };
    const offersSince = async (count: number): Promise<string[]> => {
      const { entries } = await cloud.emulator.ledger();
      const launched = entries.filter(({ event }) => event === 'launched');
      return [...new Set(launched.slice(count).map(({ type, zone, market }) => `${market} ${type} ${zone}`))];
    };

    await cluster.settle();
    work.round(cluster);
    expect([clusterStatus(cluster.state), workers().length]).toEqual(['ready', 100]);
    const zone = workers()[0]?.zone;

    const first = workers().slice(0, 30);
    await interrupt(first);
    await cluster.settle();
    // The cloud's clock has not advanced, and all of them still live.
    expect((await cloud.emulator.ledger()).live).toHaveLength(131);
    expect(await offersSince(101)).toEqual([`spot ${types[1]} ${zone}`]);
    expect(workers()).toHaveLength(100);
    work.round(cluster);

    // The other type too: now no capacity remains on that market.
    const second = workers().filter(({ offer }) => offer === types[1]);
    expect(second).toHaveLength(30);
    await interrupt(second);
    await cluster.settle();
    expect(await offersSince(131)).toEqual([`on-demand ${types[0]} ${zone}`]);
    expect((await cloud.emulator.ledger()).live).toHaveLength(161);
    work.round(cluster);
    await end([...first, ...second]);
    expect((await cloud.emulator.ledger()).live).toHaveLength(101);
    work.round(cluster);

    expect([work.isDone(), clusterStatus(cluster.state), cluster.state.failures]).toEqual([true, 'ready', {}]);
    expect(Object.values(cluster.state.slots).filter((slot) => slot.givenUp !== null || slot.failures > 0)).toEqual([]);
    await cluster.stop();
    const { entries, live } = await cloud.emulator.ledger();
    const launched = entries.filter(({ event }) => event === 'launched').length;
    console.log(
      `R6 on ${tested.title}: 60 of 100 spot instances interrupted in two bursts: ${launched} launched, at most ${mostLive} alive, $${dollars(tested, entries, cluster.nowMs()).toFixed(2)}`,
    );
    expect([launched, mostLive, live]).toEqual([161, 161, []]);
  });
});

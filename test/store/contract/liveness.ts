// When agents were last heard.
import { beforeEach, describe, expect, it } from 'vitest';

import { silentAfterMs } from '../../../domain/liveness/limits.ts';
import type { HeardAgent, SilentAgent } from '../../../store/liveness-port.ts';
import type { Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

/** Each test has its own: the table is shared. */
let cluster = 7;

const agent = (instance: string, more: Partial<HeardAgent> = {}): HeardAgent => ({
  ...{ cluster, instance, heardAtMs: 1_000_000, sinceMs: 900_000, silentAfterMs: 9_000 },
  ...more,
});

export function describeLiveness(backend: Backend): void {
  describe('liveness', () => {
    const stores = useStores(backend);
    beforeEach(() => void (cluster += 1));
    const take = async (nowMs: number, listeningMs = 3_600_000): Promise<SilentAgent[]> => {
      const { liveness } = stores().store;
      const taken = await liveness.takeSilent({ nowMs, listeningMs, againAtMs: nowMs + 60_000, limit: 100 });
      return taken.filter((each) => each.cluster === cluster);
    };

    it('has the last sign of life of each agent, and refuses an older one', async () => {
      const { store } = stores();
      await store.liveness.note([agent('a'), agent('b', { cluster: cluster + 1_000 })]);
      await store.liveness.note([agent('a', { heardAtMs: 1_005_000, sinceMs: 950_000 })]);
      await store.liveness.note([agent('a', { heardAtMs: 1_004_000, sinceMs: 1 })]);
      expect(await store.liveness.read(cluster, ['a', 'b', 'c'])).toEqual([
        agent('a', { heardAtMs: 1_005_000, sinceMs: 950_000 }),
      ]);
      expect(await store.liveness.read(cluster, [])).toEqual([]);
    });

    it('takes a time that is far older for a clock that was set back', async () => {
      const { store } = stores();
      await store.liveness.note([agent('a', { heardAtMs: 9_000_000 })]);
      await store.liveness.note([agent('a', { heardAtMs: 5_400_000 })]);
      expect(await store.liveness.read(cluster, ['a'])).toMatchObject([{ heardAtMs: 5_400_000 }]);
    });

    it('keeps the silence that counts when the caller does not know it', async () => {
      const { store } = stores();
      await store.liveness.note([agent('a'), agent('b', { silentAfterMs: null })]);
      await store.liveness.note([agent('a', { heardAtMs: 1_002_000, silentAfterMs: null })]);
      const rows = await store.liveness.read(cluster, ['a', 'b']);
      expect(new Map(rows.map((row) => [row.instance, row.silentAfterMs]))).toEqual(
        new Map([
          ['a', 9_000],
          ['b', silentAfterMs],
        ]),
      );
      expect(await take(1_010_999)).toEqual([]);
      expect(await take(1_011_000)).toEqual([{ cluster, instance: 'a', heardAtMs: 1_002_000 }]);
    });

    it('takes the time of listening as a monotonic clock measures it, with fractions', async () => {
      await stores().store.liveness.note([agent('a')]);
      expect(await take(1_009_000, 8_999.880858000004)).toEqual([]);
      expect(await take(1_009_000, 9_000.880858000004)).toEqual([{ cluster, instance: 'a', heardAtMs: 1_000_000 }]);
    });

    it('gives a silent agent to one caller, and to another later unless it was put off or heard again', async () => {
      const { store } = stores();
      await store.liveness.note([agent('a'), agent('b'), agent('c')]);
      const taken = await Promise.all([take(1_009_000), take(1_009_000)]);
      expect(
        taken
          .flat()
          .map(({ instance }) => instance)
          .toSorted(),
      ).toEqual(['a', 'b', 'c']);
      expect(await take(1_009_001)).toEqual([]);
      await store.liveness.putOff([{ cluster, instance: 'a', heardAtMs: 1_000_000 }], 5_000_000);
      await store.liveness.note([agent('b', { heardAtMs: 1_069_000 })]);
      await store.liveness.putOff([{ cluster, instance: 'b', heardAtMs: 1_000_000 }], 5_000_000);
      expect((await take(1_070_000)).map(({ instance }) => instance)).toEqual(['c']);
      expect((await take(1_078_000)).map(({ instance }) => instance)).toEqual(['b']);
      expect((await take(5_000_000)).map(({ instance }) => instance).toSorted()).toEqual(['a', 'b', 'c']);
    });

    it('takes no agent whose allowed silence is longer than the caller has been listening', async () => {
      const { store } = stores();
      await store.liveness.note([agent('short'), agent('long', { silentAfterMs: 120_000 })]);
      expect(await take(2_000_000, 8_999)).toEqual([]);
      expect((await take(2_000_000, 9_000)).map(({ instance }) => instance)).toEqual(['short']);
      expect((await take(2_000_000, 120_000)).map(({ instance }) => instance)).toEqual(['long']);
    });

    it('knows which replicas of the API have written, until they end', async () => {
      const { liveness } = stores().store;
      const ours = async (): Promise<string[]> =>
        (await liveness.replicas()).map(({ replica }) => replica).filter((name) => name.endsWith(` ${cluster}`));
      const [first, second] = [`first ${cluster}`, `second ${cluster}`];
      await liveness.noteReplica(first, 100_000);
      await liveness.noteReplica(second, 0);
      await liveness.noteReplica(first, 5_000);
      expect((await ours()).toSorted()).toEqual([first, second]);
      const row = (await liveness.replicas()).find(({ replica }) => replica === first);
      expect(row?.wroteAgoMs).toBeGreaterThanOrEqual(0);
      expect((row?.sinceAgoMs ?? 0) - (row?.wroteAgoMs ?? 0)).toBe(5_000);
      await liveness.removeReplica(second);
      expect(await ours()).toEqual([first]);
    });

    it('forgets what is deleted', async () => {
      const { store } = stores();
      await store.liveness.note([agent('a'), agent('b')]);
      await store.liveness.delete(cluster, ['a']);
      await store.liveness.delete(cluster, []);
      expect((await store.liveness.read(cluster, ['a', 'b'])).map(({ instance }) => instance)).toEqual(['b']);
    });
  });
}

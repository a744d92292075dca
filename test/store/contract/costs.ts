// The cost ledger: entries are written with the views of clusters.
import { describe, expect, it } from 'vitest';

import type { CostInterval } from '../../../domain/cost/interval.ts';
import { aClusterView, addWorkspace, opened, startMs, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const entry = (instance: string, fromMs: number, toMs: number | null): CostInterval => ({
  ...{ instance, role: 'worker', type: 'm7i.large', zone: 'us-east-1a', market: 'on-demand' },
  ...{
    microsPerHour: 100_800,
    diskMicrosPerHour: 4_384,
    addressMicrosPerHour: 5_000,
    source: 'list price',
    fromMs,
    toMs,
  },
});

export function describeCosts(backend: Backend): void {
  describe('costs', () => {
    const stores = useStores(backend);

    it('of an interval that has an end stay as they are, whatever arrives later', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { kind: 'cluster' });
      const write = async (version: number, costs: CostInterval[]): Promise<void> => {
        const view = { ...aClusterView(slug, number), costs };
        await store.clusters.project({ view, version, nowMs: startMs + version });
      };
      await write(1, [entry('i_1', 1_000, null), entry('i_2', 1_000, null)]);
      const later = [{ fromMs: 4_000, microsPerHour: 90_000 }];
      const charged = { ...entry('i_1', 1_500, 5_000), microsPerHour: 80_000, source: 'charged', later };
      await write(2, [charged]);
      await write(3, [entry('i_1', 1_000, null), entry('i_2', 1_200, null)]);
      const ledger = (await store.costs.ofClusters([number])).get(number) ?? [];
      expect(ledger.toSorted((a, b) => a.instance.localeCompare(b.instance))).toEqual([
        charged,
        entry('i_2', 1_200, null),
      ]);
    });

    it('that are open end with their cluster, at the time of its end', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const ended = await opened(store, slug, { kind: 'cluster' });
      const running = await opened(store, slug, { kind: 'cluster' });
      for (const { number } of [ended, running]) {
        const costs = [entry('i_1', 1_000, null), entry('i_2', 1_000, 2_000)];
        const view = { ...aClusterView(slug, number), costs };
        await store.clusters.project({ view, version: 1, nowMs: startMs });
      }
      const view = { ...aClusterView(slug, ended.number), endedAtMs: 9_000 };
      await other.clusters.end({ view, version: 2, release: true, nowMs: startMs });
      const ledger = await store.costs.ofClusters([ended.number, running.number, 999_999]);
      const endsOf = (number: number) =>
        Object.fromEntries((ledger.get(number) ?? []).map(({ instance, toMs }) => [instance, toMs]));
      expect(endsOf(ended.number)).toEqual({ i_1: 9_000, i_2: 2_000 });
      expect(endsOf(running.number)).toEqual({ i_1: null, i_2: 2_000 });
      expect(ledger.has(999_999)).toBe(false);
    });

    it('are read in pages without a gap or a repetition, by workspace, time and user', async () => {
      const { store, other } = stores();
      const [{ slug }, elsewhere] = [await addWorkspace(store), await addWorkspace(store)];
      const write = async (workspace: string, user: string, costs: CostInterval[]): Promise<number> => {
        const { number } = await opened(store, workspace, { kind: 'cluster', user });
        await store.clusters.project({
          view: { ...aClusterView(workspace, number), user, costs },
          version: 1,
          nowMs: 1,
        });
        return number;
      };
      // More than one page of 5,000 rows, and its end within a cluster.
      const many = Array.from({ length: 5_003 }, (_, index) => entry(`i_${index}`, 1_000, null));
      const first = await write(slug, 'ada', many);
      const second = await write(slug, 'bob', [entry('i_1', 1_000, 4_000), entry('i_2', 1_000, 8_000)]);
      await write(elsewhere.slug, 'ada', [entry('i_1', 1_000, null)]);
      const read = async (query: { sinceMs: number; user?: string }): Promise<string[]> => {
        const found: string[] = [];
        await other.costs.read({ workspace: slug, ...query }, (entries) => {
          found.push(...entries.map(({ cluster, instance, user }) => `${cluster}/${instance}/${user}`));
        });
        return found;
      };
      const all = await read({ sinceMs: 0 });
      expect([all.length, new Set(all).size]).toEqual([5_005, 5_005]);
      expect(all).toContain(`${first}/i_5002/ada`);
      expect(await read({ sinceMs: 0, user: 'bob' })).toEqual([`${second}/i_1/bob`, `${second}/i_2/bob`]);
      expect(await read({ sinceMs: 5_000, user: 'bob' })).toEqual([`${second}/i_2/bob`]);
      expect(await read({ sinceMs: 5_000, user: 'unknown' })).toEqual([]);
    });
  });
}

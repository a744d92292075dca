// The cost ledger: entries come with the views of clusters.
import { describe, expect, it } from 'vitest';

import type { CostInterval } from '../../../domain/cost/interval.ts';
import { aClusterView, addWorkspace, opened, startMs, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const entry = (instance: string, fromMs: number, toMs: number | null): CostInterval => ({
  ...{ instance, role: 'worker', type: 'm7i.large', zone: 'us-east-1a', market: 'on-demand' },
  ...{ microsPerHour: 100_800, diskMicrosPerHour: 4_384, source: 'list price', fromMs, toMs },
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
      await write(2, [entry('i_1', 1_500, 5_000)]);
      await write(3, [entry('i_1', 1_000, null), entry('i_2', 1_200, null)]);
      const ledger = (await store.costs.ofClusters([number])).get(number) ?? [];
      expect(ledger.toSorted((a, b) => a.instance.localeCompare(b.instance))).toEqual([
        entry('i_1', 1_500, 5_000),
        entry('i_2', 1_200, null),
      ]);
    });
  });
}

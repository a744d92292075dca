// The history of clusters: changes are written with their views.
import { describe, expect, it } from 'vitest';

import type { Moment } from '../../../domain/cluster/history.ts';
import { readHistory } from '../../../services/clusters/history.ts';
import { aClusterView, addWorkspace, opened, startMs, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const event = (seq: number, atMs: number): Moment => ({ seq, atMs, kind: 'event', code: 'NOTE', text: `note ${seq}` });

export function describeHistory(backend: Backend): void {
  describe('the history of a cluster', () => {
    const stores = useStores(backend);

    it('has each change once, in order, whatever writes repeat or contain; the last write of the cluster counts too', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const [{ number }, elsewhere] = [
        await opened(store, slug, { kind: 'cluster' }),
        await opened(store, slug, { kind: 'cluster' }),
      ];
      const read = async (cluster: number, untilMs: number): Promise<number[]> => {
        const found: number[] = [];
        for await (const { seq } of readHistory(other, { cluster, untilMs })) found.push(seq);
        return found;
      };
      const view = (history: Moment[], of = number) => ({ ...aClusterView(slug, of), history });
      await store.clusters.project({ view: view([event(1, 10), event(2, 20)]), version: 1, nowMs: startMs });
      await store.clusters.project({ view: view([event(9, 5)], elsewhere.number), version: 1, nowMs: startMs });
      // An older view that arrives late, as after a write whose answer was lost.
      await store.clusters.project({ view: view([event(2, 20), event(3, 30)]), version: 1, nowMs: startMs });
      const last = { ...view([event(3, 30), event(4, 40)]), endedAtMs: 40 };
      await store.clusters.end({ view: last, version: 2, release: true, nowMs: startMs });
      expect([await read(number, 40), await read(number, 39), await read(number, 9)]).toEqual([
        [1, 2, 3, 4],
        [1, 2, 3],
        [],
      ]);
      const row = await store.clusters.find(slug, number);
      expect(row?.view).not.toHaveProperty('history');
    });

    it('is read in pages without a gap', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { kind: 'cluster' });
      const history = Array.from({ length: 5_003 }, (_, index) => event(index + 1, index));
      await store.clusters.project({ view: { ...aClusterView(slug, number), history }, version: 1, nowMs: startMs });
      const found: Moment[] = [];
      for await (const moment of readHistory(store, { cluster: number, untilMs: 6_000 })) found.push(moment);
      expect(found).toEqual(history);
      const later: number[] = [];
      for await (const { seq } of readHistory(store, { cluster: number, after: 5_001 })) later.push(seq);
      expect(later).toEqual([5_002, 5_003]);
    });
  });
}

// Reservations of clusters that change their size.
import { describe, expect, it } from 'vitest';

import type { Store } from '../../../store/store.ts';
import { addWorkspace, atOnce, codeOf, opened, startMs, valueOf, aClusterView, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

/** A cluster of a head with 4 vCPUs and one worker with 2. */
async function aCluster(
  store: Store,
  limits = {},
): Promise<{ slug: string; number: number; used: () => Promise<number> }> {
  const { slug } = await addWorkspace(store, limits);
  const size = { kind: 'cluster' as const, instances: 2, vcpus: 6, workerVcpus: 2 };
  const { number } = await opened(store, slug, size);
  return { slug, number, used: async () => (await store.workspaces.usage(slug)).total.instances };
}

export function describeQuotas(backend: Backend): void {
  describe('reservations', () => {
    const stores = useStores(backend);

    it('grow before the cluster does, and fall when its workflow reports fewer instances', async () => {
      const { store, other } = stores();
      const { slug, number, used } = await aCluster(store);
      expect(valueOf(await store.quotas.reserve({ number, kind: 'scale', instances: 10 }, startMs))).toEqual({
        seq: 1,
      });
      expect((await store.workspaces.usage(slug)).total).toEqual({ running: 1, instances: 10, vcpus: 22 });
      await store.quotas.settle({ number, kind: 'scale', seq: 1 });
      expect(valueOf(await other.quotas.reserve({ number, kind: 'scale', instances: 3 }, startMs))).toEqual({ seq: 2 });
      expect(await used()).toBe(10);
      await other.quotas.settle({ number, kind: 'scale', seq: 2 });
      expect(await used()).toBe(10);
      await store.quotas.noteUsage({ number, instances: 6, scale: 1, adapt: 0 });
      expect(await used()).toBe(10);
      await store.quotas.noteUsage({ number, instances: 6, scale: 2, adapt: 0 });
      expect(await used()).toBe(6);
      await store.quotas.noteUsage({ number, instances: 3, scale: 2, adapt: 0 });
      expect(await used()).toBe(3);
    });

    it('are refused beyond the limit, and then stay', async () => {
      const { store } = stores();
      const { number, used } = await aCluster(store, { instances: 8 });
      expect(codeOf(await store.quotas.reserve({ number, kind: 'adapt', instances: 9 }, startMs))).toBe(
        'LIMIT_EXCEEDED',
      );
      expect(await used()).toBe(2);
      expect(valueOf(await store.quotas.reserve({ number, kind: 'adapt', instances: 8 }, startMs))).toEqual({ seq: 1 });
    });

    it('of many clusters that grow at once fill the limit exactly', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store, { instances: 50 });
      const numbers: number[] = [];
      for (let n = 0; n < 20; n += 1) numbers.push((await opened(store, slug, { kind: 'cluster' })).number);
      const answers = await atOnce(20, stores(), (each, index) =>
        each.quotas.reserve({ number: numbers[index] ?? 0, kind: 'scale', instances: 6 }, startMs),
      );
      expect(answers.filter((answer) => 'ok' in answer)).toHaveLength(6);
      expect((await store.workspaces.usage(slug)).total.instances).toBe(50);
    });

    it('give each of many requests a sequence number of its own', async () => {
      const { number } = await aCluster(stores().store);
      const answers = await atOnce(20, stores(), (store) =>
        store.quotas.reserve({ number, kind: 'scale', instances: 3 }, startMs),
      );
      const seqs = answers.map((answer) => valueOf(answer).seq).toSorted((a, b) => a - b);
      expect(seqs).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    });

    it('of an ended cluster are gone', async () => {
      const { store } = stores();
      const { slug, number, used } = await aCluster(store);
      await store.clusters.end({ view: aClusterView(slug, number), version: 1, release: true, nowMs: startMs });
      expect(codeOf(await store.quotas.reserve({ number, kind: 'scale', instances: 3 }, startMs))).toBe('NOT_FOUND');
      await store.quotas.settle({ number, kind: 'scale', seq: 1 });
      await store.quotas.noteUsage({ number, instances: 5, scale: 0, adapt: 0 });
      expect(await used()).toBe(0);
    });
  });
}

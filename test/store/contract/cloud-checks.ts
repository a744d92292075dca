// The last findings of the clouds' checks.
import { describe, expect, it } from 'vitest';

import type { Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

export function describeCloudChecks(backend: Backend): void {
  describe('findings of cloud checks', () => {
    const stores = useStores(backend);

    it('are the newest of each check, whichever arrives last, for each provider its own', async () => {
      const { store, other } = stores();
      const ok = { name: 'aws launch', atMs: 2_000, state: 'ok' as const, text: 'would launch', fix: '' };
      const broken = { ...ok, atMs: 1_000, state: 'broken' as const, text: 'refused', fix: 'Give the role.' };
      await store.cloudChecks.put('aws', [broken, { ...ok, name: 'aws credentials' }]);
      await other.cloudChecks.put('aws', [ok]);
      await store.cloudChecks.put('aws', [broken]);
      await store.cloudChecks.put('gcp', [broken]);
      expect(await other.cloudChecks.list('aws')).toEqual([{ ...ok, name: 'aws credentials' }, ok]);
      expect(await store.cloudChecks.list('gcp')).toEqual([broken]);
      expect(await store.cloudChecks.list('none')).toEqual([]);
    });
  });
}

// Deliveries of webhooks: their claims, and the outcome that counts.
import { describe, expect, it } from 'vitest';

import { addWorkspace, startMs, unique, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';
import type { Store } from '../../../store/store.ts';

const delivered = { state: 'delivered' as const, nextAtMs: null, status: 204, error: null, gone: false };
const failed = { state: 'failed' as const, nextAtMs: null, status: 410, error: 'HTTP 410', gone: true };

export function describeDeliveries(backend: Backend): void {
  describe('deliveries', () => {
    const stores = useStores(backend);

    const aDelivery = async (store: Store) => {
      const { slug: workspace } = await addWorkspace(store);
      const webhook = valueOf(
        await store.notifications.addWebhook({
          ...{
            id: unique('wh'),
            workspace,
            origin: 'https://example.com',
            events: ['*'],
            object: null,
            approverToken: null,
            format: 'standard' as const,
          },
          ...{ description: '', user: 'ada', disabledAtMs: null, createdAtMs: startMs },
        }),
      );
      const id = await store.notifications.addTest(webhook, startMs);
      const row = async () => {
        const all = await store.notifications.listDeliveries(workspace, {
          webhook: webhook.id,
          before: null,
          limit: 9,
        });
        return { ...all.find((each) => each.id === id), disabledAtMs: (await find())?.disabledAtMs };
      };
      const find = () => store.notifications.findWebhook(workspace, webhook.id);
      const claim = async (by: Store, nowMs: number) => {
        const query = { limit: 100, underWay: [], nowMs, claimUntilMs: nowMs + 60_000 };
        const found = (await by.notifications.claimDeliveries(query)).find((each) => each.id === id);
        if (found === undefined) throw new Error('the delivery was not claimed');
        return found;
      };
      return { claim, row };
    };

    it('have the outcome of the claim that holds, not of one that has ended', async () => {
      const { store, other } = stores();
      const { claim, row } = await aDelivery(store);
      const slow = await claim(store, startMs);
      const second = await claim(other, startMs + 60_000);
      const late = { state: 'pending' as const, nextAtMs: startMs, status: null, error: 'timeout', gone: false };
      await store.notifications.settleDelivery(slow, late, startMs + 60_001);
      expect(await row()).toMatchObject({ state: 'pending', attempts: 0, nextAtMs: startMs + 120_000, error: null });
      await other.notifications.settleDelivery(second, delivered, startMs + 60_002);
      const settled = { state: 'delivered', attempts: 1, status: 204, error: null, nextAtMs: null, disabledAtMs: null };
      expect(await row()).toMatchObject(settled);
      await store.notifications.settleDelivery(slow, failed, startMs + 60_003);
      await other.notifications.settleDelivery(second, failed, startMs + 60_004);
      expect(await row()).toMatchObject(settled);
    });

    it('take the outcome of an expired claim when no other claim followed', async () => {
      const { store, other } = stores();
      const { claim, row } = await aDelivery(store);
      const slow = await claim(store, startMs);
      await other.notifications.settleDelivery(slow, failed, startMs + 90_000);
      expect(await row()).toMatchObject({ state: 'failed', attempts: 1, disabledAtMs: startMs + 90_000 });
    });
  });
}

// Webhook receivers that never answer delay neither another workspace nor the other webhooks of their own.
import { expect, it } from 'vitest';

import { maxOfWorkspace, maxUnderWay } from '../../domain/notifications/fair-share.ts';
import { notify } from '../../services/webhooks/notifications.ts';
import { createTestApi } from '../api/support.ts';
import { receiver } from '../api/webhook-receiver.ts';
import { eventually } from '../support/eventually.ts';

async function open() {
  const api = await createTestApi({ allowPrivateWebhooks: true });
  const tokens = new Map<string, string>();
  for (const slug of ['slow', 'other']) tokens.set(slug, await api.addToken(slug, ['read', 'write', 'admin']));
  const create = async (slug: string, url: string) => {
    const answer = await api.call('POST', '/v1/webhooks', { token: tokens.get(slug) ?? '', body: { url } });
    expect(answer.status).toBe(201);
  };
  /** For `count` jobs: each webhook gets this many deliveries. */
  const happen = async (workspace: string, count: number) => {
    for (let job = 1; job <= count; job += 1)
      await notify(api.deps, { workspace, type: 'job.finished', object: `job/${job}`, text: 'Done.', data: { job } });
  };
  return { create, happen, round: () => api.deps.webhooks.round() };
}

it('of one workspace take a share of the deliveries at a time, and another workspace gets its own', async () => {
  const { create, happen, round } = await open();
  const [silent, mine] = [await receiver(() => null), await receiver()];
  for (let n = 0; n < 20; n += 1) await create('slow', silent.url);
  await create('other', mine.url);
  await happen('slow', 3);
  await happen('other', 1);
  await round();
  await round();
  await eventually(() => mine.received.length === 1);
  expect(silent.received.length).toBeLessThanOrEqual(maxOfWorkspace);
  expect(maxOfWorkspace).toBeLessThan(maxUnderWay / 2);
});

it('leave places for the other webhooks of their workspace', async () => {
  const { create, happen, round } = await open();
  const [silent, mine] = [await receiver(() => null), await receiver()];
  await create('slow', silent.url);
  await happen('slow', maxUnderWay + 1);
  await create('slow', mine.url);
  await happen('slow', 1);
  await round();
  await eventually(() => mine.received.length === 1);
});

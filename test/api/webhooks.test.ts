// Webhooks, with a real receiver: signatures, order, repetitions, and forbidden targets.
import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';

import type { ClusterView } from '../../contracts/cluster.ts';
import type { JobView } from '../../contracts/job.ts';
import { countBudgets } from '../../services/budgets/count.ts';
import { notify } from '../../services/webhooks/notifications.ts';
import { createTestApi } from './support.ts';
import { receiver } from './webhook-receiver.ts';

async function open(more: Parameters<typeof createTestApi>[0] = { allowPrivateWebhooks: true }) {
  const api = await createTestApi(more);
  const admin = await api.addToken('default', ['read', 'write', 'admin']);
  const call: typeof api.call = (method, path, options) => api.call(method, path, { token: admin, ...options });
  const create = async (body: object) => {
    const reply = await call('POST', '/v1/webhooks', { body });
    return { status: reply.status, body: await reply.json() };
  };
  /** Sends the due messages, and those that become due by them. */
  const deliver = async () => {
    await api.deps.webhooks.round();
    await api.deps.webhooks.settled();
  };
  const end = async (number: number, status: JobView['status']) => {
    const { view } = await api.deps.views.job('default', number);
    const reason = { code: 'X', text: `because of ${status}`, atMs: api.now() };
    await api.workflows.endJob({ ...view, status, reason, endedAtMs: api.now() });
  };
  const deliveries = async (query = '') =>
    (await (await api.call('GET', `/v1/webhook-deliveries${query}`)).json()).items;
  return { ...api, call, create, deliver, end, deliveries };
}

describe('a webhook', () => {
  it('of one job gets what is about that job alone, and cannot be made for one that has ended', async () => {
    const { create, submit, end, deliver } = await open();
    const { received, url } = await receiver();
    const [mine, other] = [await submit({ name: 'mine' }), await submit({ name: 'other' })];
    const made = await create({ url, object: `job/${mine}` });
    expect(made).toMatchObject({ status: 201, body: { object: `job/${mine}` } });
    await end(other, 'error');
    await end(mine, 'done');
    await deliver();
    expect(received.map(({ body }) => JSON.parse(body).data.job)).toEqual([mine]);
    for (const object of [`job/${mine}`, 'budget/all', `cluster/${other}x`])
      expect(await create({ url, object })).toMatchObject({ status: 422, body: { error: { field: 'object' } } });
    expect((await create({ url, object: 'job/424242' })).status).toBe(404);
  });

  it('gets what happens to jobs, signed as the library of the specification verifies it', async () => {
    const { create, submit, end, deliver, deliveries } = await open();
    const { received, url } = await receiver();
    const made = await create({ url, description: 'chat' });
    expect(made).toMatchObject({
      status: 201,
      body: { origin: new URL(url).origin, events: ['*'], format: 'standard' },
    });
    const number = await submit({ name: 'train', ntasks: 2 });
    await end(number, 'error');
    await deliver();
    expect(received).toHaveLength(1);
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    const verified = new Verifier(made.body.secret).verify(body, signed);
    expect(verified).toMatchObject({
      type: 'job.failed',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { job: number, name: 'train', user: 'ada', status: 'error', reason: { code: 'X' }, tasks: { total: 2 } },
    });
    const other = new Verifier(`whsec_${Buffer.alloc(32).toString('base64')}`);
    expect(() => other.verify(body, signed)).toThrow('No matching signature found');
    expect(await deliveries()).toMatchObject([
      { state: 'delivered', status: 204, attempts: 1, object: `job/${number}` },
    ]);
  });

  it('gets only the events that it names, each once', async () => {
    const { create, submit, startCluster, end, deliver, deps } = await open();
    const { received, url } = await receiver();
    await create({ url, events: ['job.cancelled', 'cluster.*'] });
    await end(await submit({}), 'done');
    const gone = await submit({});
    await end(gone, 'cancelled');
    await startCluster({});
    const once = { object: 'cluster/77', once: 'twice' };
    for (const _ of [1, 2]) {
      await notify(deps, { workspace: 'default', type: 'cluster.failed', text: 'It broke.', data: { a: 1 }, ...once });
    }
    await deliver();
    expect(new Set(received.map(({ body }) => JSON.parse(body).type))).toEqual(
      new Set(['cluster.failed', 'job.cancelled']),
    );
    expect(received).toHaveLength(2);
  });

  it('gets a notification when a budget warns and when it is exceeded', async () => {
    const { create, startCluster, store, deps, now, clock, call, deliver } = await open();
    const { received, url } = await receiver();
    await create({ url, events: ['budget.*'] });
    const { view } = await deps.views.cluster('default', await startCluster({}));
    const cost = {
      ...{ instance: 'i_1', role: 'head' as const, type: 'm', zone: 'a', market: 'on-demand' as const, source: 'test' },
      ...{ microsPerHour: 1e6, diskMicrosPerHour: 0, addressMicrosPerHour: 0, fromMs: now() - 3_600_000, toMs: null },
    };
    await store.clusters.project({ view: { ...view, costs: [cost] }, version: 9, nowMs: now() });
    await call('PUT', '/v1/budgets/ml', { body: { dollars: 1.2, period: 'month', warnAtPercent: 50 } });
    for (const _ of [1, 2]) {
      clock.offsetMs += 3_600_000;
      await countBudgets(deps);
      await deliver();
    }
    const sent = received.map(({ body }) => JSON.parse(body));
    expect(sent.map(({ type }) => type)).toEqual(['budget.warning', 'budget.exceeded']);
    expect(sent[1].data).toMatchObject({
      budget: 'ml',
      dollars: 1.2,
      spentDollars: expect.closeTo(2),
      period: 'month',
    });
  });

  it('gets one notification when a cluster is ready and one when it has ended', async () => {
    const { create, startCluster, store, deps, now, call, deliver } = await open();
    const { received, url } = await receiver();
    await create({ url });
    const number = await startCluster({});
    const { view } = await deps.views.cluster('default', number);
    const project = (status: ClusterView['status'], version: number) =>
      store.clusters.project({ view: { ...view, status }, version, nowMs: now() });
    await project('ready', 10);
    await project('ready', 11);
    await project('scaling', 12);
    await project('ready', 13);
    for (const version of [14, 15]) {
      const ended = { ...view, status: 'stopped' as const, endedAtMs: now() };
      await store.clusters.end({ view: ended, version, release: true, nowMs: now() });
    }
    const { items } = await (await call('GET', '/v1/notifications')).json();
    expect(items.map(({ type }: { type: string }) => type)).toEqual(['cluster.ended', 'cluster.ready']);
    for (const _ of items) await deliver();
    expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(['cluster.ready', 'cluster.ended']);
    const count = async (event: string) =>
      (await (await call('GET', `/v1/notifications?event=${event}`)).json()).items?.length;
    expect(await Promise.all(['*', 'cluster.ready', 'job.*', 'job.x'].map(count))).toEqual([2, 1, 0, undefined]);
  });

  it('gets a failed message again later with the same id, and the next one of the same object after it', async () => {
    const { create, deps, deliver, clock, deliveries } = await open();
    const { received, url } = await receiver((count) => ({ status: count === 1 ? 500 : 200 }));
    await create({ url });
    const say = (object: string, text: string) =>
      notify(deps, { workspace: 'default', type: 'job.finished', object, text, data: {} });
    await say('job/1', 'first');
    await say('job/1', 'second');
    await deliver();
    await say('job/2', 'other');
    await deliver();
    const texts = () => received.map(({ body }) => JSON.parse(body).data.text);
    expect(texts()).toEqual(['first', 'other']);
    expect((await deliveries()).map(({ state, status }: { state: string; status: number }) => [state, status])).toEqual(
      [
        ...[
          ['delivered', 200],
          ['pending', null],
          ['pending', 500],
        ],
      ],
    );
    clock.offsetMs += 5_000;
    await deliver();
    await deliver();
    expect(texts()).toEqual(['first', 'other', 'first', 'second']);
    const ids = received.map(({ headers }) => headers['webhook-id']);
    expect(ids[2]).toBe(ids[0]);
    expect(new Set(ids).size).toBe(3);
  });

  it('is given up after three days, and disabled when its receiver says 410', async () => {
    const { create, call, submit, end, deliver, clock, deliveries } = await open();
    const bad = await receiver(() => ({ status: 503 }));
    await create({ url: bad.url });
    await end(await submit({}), 'done');
    for (let round = 0; round < 12; round += 1) {
      await deliver();
      clock.offsetMs += 86_400_000;
    }
    expect(bad.received).toHaveLength(11);
    expect(await deliveries()).toMatchObject([{ state: 'failed', attempts: 11, status: 503, nextAttemptAt: null }]);
    const gone = await receiver(() => ({ status: 410 }));
    const { body } = await create({ url: gone.url, events: ['job.failed'] });
    await end(await submit({}), 'error');
    await end(await submit({}), 'error');
    await deliver();
    await deliver();
    expect((await call('GET', '/v1/webhooks').then((reply) => reply.json())).items[1]).toMatchObject({
      id: body.id,
      disabledAt: expect.any(String),
    });
    await end(await submit({}), 'error');
    await deliver();
    expect(gone.received.length).toBeLessThanOrEqual(2);
    expect((await deliveries(`?webhook=${body.id}`)).every(({ state }: { state: string }) => state === 'failed')).toBe(
      true,
    );
  });

  it('can be tested, can send the format of Slack, and is deleted with its open deliveries', async () => {
    const { create, call, deliver, deps, deliveries } = await open();
    const { received, url } = await receiver();
    const { body } = await create({ url, events: ['job.failed'], format: 'slack' });
    expect((await call('POST', `/v1/webhooks/${body.id}/test`)).status).toBe(202);
    await notify(deps, { workspace: 'default', type: 'job.failed', object: 'job/1', text: 'a <b> & c', data: {} });
    await deliver();
    expect(received.map((each) => JSON.parse(each.body))).toEqual([
      { text: 'This is a test of a webhook.' },
      { text: 'a &lt;b&gt; &amp; c' },
    ]);
    await notify(deps, { workspace: 'default', type: 'job.failed', object: 'job/1', text: 'late', data: {} });
    expect((await call('DELETE', `/v1/webhooks/${body.id}`)).status).toBe(200);
    await deliver();
    expect([received.length, await deliveries()]).toEqual([2, []]);
    expect((await call('POST', `/v1/webhooks/${body.id}/test`)).status).toBe(404);
  });

  it('is sent once by two replicas, and its secret and address are shown nowhere', async () => {
    const { create, call, submit, end, deps, deliver, objects, logged } = await open();
    const { received, url } = await receiver((count) => ({ status: count === 1 ? 500 : 200 }));
    const { body } = await create({ url });
    await end(await submit({}), 'done');
    await Promise.all([deliver(), deps.webhooks.round(), deps.webhooks.round()]);
    await deps.webhooks.settled();
    expect(received).toHaveLength(1);
    const list = await (await call('GET', '/v1/webhooks')).text();
    const stored = await Promise.all((await objects.list('', { limit: 100 })).map((key) => objects.get(key)));
    const all = [list, ...logged, ...stored.map((bytes) => Buffer.from(bytes ?? []).toString())].join('\n');
    expect(all).not.toContain('s3cret');
    expect(all).not.toContain(body.secret);
  });
});

describe('a webhook cannot', () => {
  it('reach private addresses, by name or number, or follow a redirect', async () => {
    const { create, call, deliver, deliveries } = await open({});
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '169.254.169.254',
      'localhost',
      '10.0.0.1',
      '[::ffff:10.0.0.1]',
      '2130706433',
    ]) {
      const { status, body } = await create({ url: `https://${host}/` });
      expect([host, status]).toEqual([host, 201]);
      await call('POST', `/v1/webhooks/${body.id}/test`);
      await deliver();
      const [last] = await deliveries(`?webhook=${body.id}`);
      expect({ host, ...last }).toMatchObject({
        host,
        state: 'pending',
        status: null,
        error: expect.stringContaining('private, loopback'),
      });
    }
    const target = await receiver();
    const redirecting = await receiver(() => ({ status: 302, location: target.url }));
    const other = await open();
    await other.create({ url: redirecting.url });
    await other.end(await other.submit({}), 'done');
    await other.deliver();
    expect([redirecting.received.length, target.received.length]).toEqual([1, 0]);
    expect(await other.deliveries()).toMatchObject([
      { state: 'pending', status: 302, error: expect.stringContaining('redirects') },
    ]);
  });

  it('be made by members, over plain HTTP, with a password, or for what does not exist', async () => {
    const { create, call, addToken } = await open({});
    for (const url of ['http://example.com/', 'https://ada:pw@example.com/', 'ftp://example.com/']) {
      expect((await create({ url })).body).toMatchObject({ error: { code: 'VALIDATION', field: 'url' } });
    }
    expect((await create({ url: 'https://example.com/', events: ['job.exploded'] })).status).toBe(422);
    const member = await addToken('default', ['read', 'write'], 'bob', 'member');
    const body = { url: 'https://example.com/' };
    expect((await call('POST', '/v1/webhooks', { body, token: member })).status).toBe(403);
    expect((await call('GET', '/v1/notifications', { token: member })).status).toBe(200);
  });

  it('reveal more of a private job than its name and status', async () => {
    const { create, submit, end, deliver } = await open();
    const { received, url } = await receiver();
    await create({ url });
    await end(await submit({ privateToCreator: true, name: 'mine' }), 'error');
    await deliver();
    expect(JSON.parse(received[0]?.body ?? '{}').data).toMatchObject({ name: 'mine', status: 'error', reason: null });
    expect(received[0]?.body).not.toContain('because of');
  });
});

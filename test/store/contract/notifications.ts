// Notifications, and their deliveries to webhooks: in order of each object, by one process at a time.
import { describe, expect, it } from 'vitest';

import { maxObjectWebhooks, maxWebhooks } from '../../../domain/notifications/delivery.ts';
import type { NewNotification } from '../../../domain/notifications/types.ts';
import type { Webhook } from '../../../store/notification-port.ts';
import type { Store } from '../../../store/store.ts';
import {
  addWorkspace,
  aClusterView,
  atOnce,
  codeOf,
  expectOne,
  opened,
  startMs,
  unique,
  valueOf,
  type Backend,
} from '../fixtures.ts';
import { useStores } from './opened.ts';

const aWebhook = (workspace: string, over: Partial<Webhook> = {}): Webhook => ({
  ...{
    id: unique('whk'),
    workspace,
    origin: 'https://example.com',
    events: ['*'],
    object: null,
    approverToken: null,
    format: 'standard',
  },
  ...{ description: '', user: 'ada', disabledAtMs: null, createdAtMs: startMs, ...over },
});

const anItem = (workspace: string, over: Partial<NewNotification> = {}): NewNotification => ({
  ...{ workspace, type: 'job.finished', object: 'job/1', text: 'done', data: { job: 1, tags: ['ü'] }, ...over },
});

const delivered = { state: 'delivered' as const, nextAtMs: null, status: 200, error: null, gone: false };
const retryAt = (nextAtMs: number) => ({ ...delivered, state: 'pending' as const, nextAtMs, status: 500 });

function given<T>(claimed: T | undefined): T {
  if (claimed === undefined) throw new Error('no delivery was claimed');
  return claimed;
}

/** The additional fields of a Dask cluster's view. */
const someDask = {
  ...{ orders: { version: 0, schedulerAddress: null, drain: [], adaptive: null, stop: null }, report: null },
  ...{
    reportedAtMs: null,
    unresponsiveSinceMs: null,
    adaptive: null,
    privateToCreator: false,
    noClientTimeoutMs: null,
  },
  ...{ workersWanted: 1, workersStarted: 1, workersErrored: 0, caRef: 'ca' },
};

export function describeNotifications(backend: Backend): void {
  describe('notifications', () => {
    const stores = useStores(backend);
    const webhook = async (store: Store, workspace: string, over: Partial<Webhook> = {}) =>
      valueOf(await store.notifications.addWebhook(aWebhook(workspace, over)));
    const claim = async (store: Store, { id }: Webhook, nowMs: number) => {
      const query = { limit: 1_000, underWay: [], nowMs, claimUntilMs: nowMs + 1_000 };
      return (await store.notifications.claimDeliveries(query)).filter((each) => each.webhook.id === id);
    };

    it('are listed newest first, page by page, in their workspace alone', async () => {
      const { store, other } = stores();
      const [{ slug }, { slug: elsewhere }] = [await addWorkspace(store), await addWorkspace(store)];
      for (const object of ['job/1', 'job/2', 'job/3'])
        await store.notifications.add(anItem(slug, { object }), startMs);
      const all = await other.notifications.list(slug, { before: null, limit: 2 });
      expect(all).toMatchObject([{ object: 'job/3', atMs: startMs, data: { tags: ['ü'] } }, { object: 'job/2' }]);
      const rest = await other.notifications.list(slug, { before: all[1]?.id ?? 0, limit: 2 });
      expect(rest).toMatchObject([{ object: 'job/1' }]);
      expect(await other.notifications.list(elsewhere, { before: null, limit: 2 })).toEqual([]);
      await store.notifications.add(anItem(slug, { object: 'job/4', type: 'job.failed' }), startMs);
      const failed = { before: null, limit: 2, types: ['job.failed', 'cluster.failed'] as const };
      expect(await other.notifications.list(slug, failed)).toMatchObject([{ object: 'job/4' }]);
    });

    it('with the same `once` are one, and its deliveries too', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const hook = await webhook(store, slug);
      const item = anItem(slug, { once: 'job/1 finished' });
      expectOne(await atOnce(4, stores(), (each) => each.notifications.add(item, startMs)), (isNew) => isNew);
      expect(await claim(other, hook, startMs)).toHaveLength(1);
      const { slug: elsewhere } = await addWorkspace(store);
      expect(await other.notifications.add({ ...item, workspace: elsewhere }, startMs)).toBe(true);
    });

    it('go to the webhooks that want them, and a test to its webhook alone', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const jobs = await webhook(store, slug, { events: ['job.*'], createdAtMs: startMs });
      const stopped = await webhook(store, slug, { events: ['schedule.stopped'], createdAtMs: startMs + 1 });
      await store.notifications.add(anItem(slug), startMs);
      await store.notifications.add(anItem(slug, { type: 'schedule.stopped', object: 'schedule/s' }), startMs);
      await store.notifications.addTest(jobs, startMs);
      const types = async (hook: Webhook) => (await claim(other, hook, startMs)).map((each) => each.notification.type);
      expect(await types(jobs)).toEqual(['job.finished', 'webhook.test']);
      expect(await types(stopped)).toEqual([]);
      const page = { webhook: null, before: null, limit: 9 };
      const seen = await other.notifications.listDeliveries(slug, page);
      expect(seen.map(({ type, webhook: id }) => [type, id])).toEqual([
        ['webhook.test', jobs.id],
        ['schedule.stopped', stopped.id],
        ['job.finished', jobs.id],
      ]);
      const own = await other.notifications.listDeliveries(slug, { ...page, webhook: stopped.id });
      expect(own).toMatchObject([{ state: 'pending', attempts: 0, nextAtMs: startMs + 1_000 }]);
      expect(await other.notifications.listWebhooks(slug)).toEqual([jobs, stopped]);
    });

    it('are claimed by one process, and by another one after the claim has ended', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const hook = await webhook(store, slug);
      await store.notifications.add(anItem(slug), startMs);
      const claims = await atOnce(4, stores(), (each) => claim(each, hook, startMs));
      expect(claims.flat()).toHaveLength(1);
      expect(await claim(other, hook, startMs + 999)).toEqual([]);
      const [again] = await claim(other, hook, startMs + 1_000);
      expect(again).toEqual({ ...claims.flat()[0], claimedUntilMs: startMs + 2_000 });
    });

    it('about one object follow each other; those about others do not wait', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const hook = await webhook(store, slug);
      for (const [text, object] of [
        ['first', 'job/1'],
        ['second', 'job/1'],
        ['else', 'job/2'],
      ] as const)
        await store.notifications.add(anItem(slug, { text, object }), startMs);
      const [first, elsewhere, ...none] = await claim(store, hook, startMs);
      expect([first, elsewhere].map((each) => each?.notification.text)).toEqual(['first', 'else']);
      expect(none).toEqual([]);
      await store.notifications.settleDelivery(given(elsewhere), delivered, startMs);
      await store.notifications.settleDelivery(given(first), retryAt(startMs + 5_000), startMs);
      expect(await claim(other, hook, startMs + 4_999)).toEqual([]);
      const [again] = await claim(other, hook, startMs + 5_000);
      expect(again).toMatchObject({ id: first?.id, attempts: 1, notification: { text: 'first' } });
      await other.notifications.settleDelivery(given(again), delivered, startMs + 5_000);
      expect(await claim(store, hook, startMs + 5_000)).toMatchObject([{ notification: { text: 'second' } }]);
    });

    it('end for a webhook whose receiver is gone, and with one that is removed', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const [gone, removed] = [await webhook(store, slug), await webhook(store, slug)];
      await store.notifications.add(anItem(slug), startMs);
      await store.notifications.add(anItem(slug), startMs);
      const [one] = await claim(store, gone, startMs);
      const failed = { ...delivered, state: 'failed' as const, status: 410, gone: true };
      await store.notifications.settleDelivery(given(one), failed, startMs + 1);
      const ofGone = { webhook: gone.id, before: null, limit: 9 };
      expect(await other.notifications.listDeliveries(slug, ofGone)).toMatchObject([
        { state: 'failed', nextAtMs: null, attempts: 0 },
        { state: 'failed', nextAtMs: null, attempts: 1, status: 410 },
      ]);
      expect(await other.notifications.findWebhook(slug, gone.id)).toMatchObject({ disabledAtMs: startMs + 1 });
      expect(await other.notifications.removeWebhook(slug, removed.id)).toEqual(removed);
      expect(await other.notifications.removeWebhook(slug, removed.id)).toBeNull();
      await store.notifications.add(anItem(slug, { object: 'job/9' }), startMs);
      expect([await claim(store, gone, startMs + 9_000), await claim(store, removed, startMs + 9_000)]).toEqual([
        [],
        [],
      ]);
    });

    it('of a cluster whose GPUs do nothing are made once, with the view that says so', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { kind: 'cluster' });
      const project = (by: Store, version: number, idle: number) => {
        const gpus = { total: 2, idle, sinceMs: idle === 0 ? null : startMs };
        const view = aClusterView(slug, number, { status: 'starting', gpus });
        return by.clusters.project({ view, version, nowMs: startMs });
      };
      const made = async () =>
        (await store.notifications.list(slug, { before: null, limit: 9 })).filter(
          ({ type }) => type === 'cluster.idle_gpu',
        );
      await project(store, 1, 0);
      expect(await made()).toEqual([]);
      await project(store, 2, 1);
      await project(other, 3, 2);
      await project(other, 2, 2);
      expect(await made()).toMatchObject([
        { object: `cluster/${number}`, data: { idle: 1, total: 2, name: `cluster-${number}` } },
      ]);
    });

    it('of a cluster that has done nothing for long are made once, with the view that says so', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { kind: 'cluster' });
      const project = (by: Store, version: number, dask: { idleSinceMs: number | null; idleWarned?: true }) => {
        const view = { ...aClusterView(slug, number, { status: 'ready' }), dask: { ...someDask, ...dask } };
        return by.clusters.project({ view, version, nowMs: startMs });
      };
      const made = async () =>
        (await store.notifications.list(slug, { before: null, limit: 9 })).filter(
          ({ type }) => type === 'cluster.idle',
        );
      await project(store, 1, { idleSinceMs: 0 });
      expect(await made()).toEqual([]);
      await project(store, 2, { idleSinceMs: 0, idleWarned: true });
      await project(other, 3, { idleSinceMs: 5_000, idleWarned: true });
      expect(await made()).toMatchObject([
        { object: `cluster/${number}`, data: { cluster: number, idleSince: '1970-01-01T00:00:00.000Z' } },
      ]);
    });

    it('are removed with their deliveries when they are old', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const hook = await webhook(store, slug);
      await store.notifications.add(anItem(slug, { object: 'job/1' }), startMs - 10);
      await store.notifications.add(anItem(slug, { object: 'job/2' }), startMs);
      await other.notifications.removeBefore(startMs);
      expect(await store.notifications.list(slug, { before: null, limit: 9 })).toMatchObject([{ object: 'job/2' }]);
      expect(await claim(store, hook, startMs)).toMatchObject([{ notification: { object: 'job/2' } }]);
    });

    it('have at most so many webhooks in a workspace', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      for (let count = 0; count < maxWebhooks; count += 1) await webhook(store, slug);
      expect(codeOf(await store.notifications.addWebhook(aWebhook(slug)))).toBe('LIMIT_EXCEEDED');
      expect(codeOf(await store.notifications.addWebhook(aWebhook('nowhere')))).toBe('NOT_FOUND');
      const ofOne = { object: 'job/1' };
      for (let count = 0; count < maxObjectWebhooks; count += 1) await webhook(store, slug, ofOne);
      expect(codeOf(await store.notifications.addWebhook(aWebhook(slug, ofOne)))).toBe('LIMIT_EXCEEDED');
    });

    it('of one object get what is about it alone, and about the cluster of the job', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const ofJob = await webhook(store, slug, { object: 'job/7' });
      const ofCluster = await webhook(store, slug, { object: 'cluster/8', events: ['cluster.*'] });
      const add = (type: NewNotification['type'], object: string) =>
        store.notifications.add(anItem(slug, { type, object }), startMs);
      await add('job.finished', 'job/7');
      await add('cluster.idle_gpu', 'cluster/7');
      await add('job.finished', 'job/70');
      await add('job.finished', 'job/8');
      await add('budget.warning', 'budget/7');
      await add('cluster.ready', 'cluster/8');
      await add('approval.requested', 'cluster/8');
      const got = async ({ id }: Webhook) => {
        const all = await store.notifications.listDeliveries(slug, { webhook: id, before: null, limit: 99 });
        return all.map(({ type, object }) => `${type} ${object}`).toReversed();
      };
      expect(await got(ofJob)).toEqual(['job.finished job/7', 'cluster.idle_gpu cluster/7']);
      expect(await got(ofCluster)).toEqual(['cluster.ready cluster/8']);
    });
  });
}

// The row of the deployment, and deferred commands.
import { describe, expect, it } from 'vitest';

import { maxTasksText } from '../../../schema/jobs.ts';
import { keySet } from '../../platform/support.ts';
import {
  addWorkspace,
  admitted,
  aJobView,
  aSchedule,
  atOnce,
  expectOne,
  opened,
  startMs,
  valueOf,
  type Backend,
} from '../fixtures.ts';
import { useStores } from './opened.ts';

export function describeDeployment(backend: Backend): void {
  describe('deployment', () => {
    const stores = useStores(backend);

    it('has no id until one process of many claims the database', async () => {
      const { store, other } = stores();
      expect(await store.deployment.read()).toBeNull();
      const claims = await atOnce(10, stores(), (each, index) => each.deployment.claim(`dep-${index}`, startMs));
      expectOne(claims, ({ isNew }) => isNew);
      const ids = new Set(claims.map(({ deploymentId }) => deploymentId));
      expect(ids.size).toBe(1);
      const expected = { deploymentId: [...ids][0], createdAtMs: startMs };
      expect(await other.deployment.read()).toMatchObject(expected);
      expect(await other.deployment.claim('late', startMs)).toEqual({ deploymentId: [...ids][0], isNew: false });
    });

    it('keeps the id of the first object store of many', async () => {
      const { store, other } = stores();
      await store.deployment.claim('dep', startMs);
      const claims = await atOnce(10, stores(), (each, index) => each.deployment.claimObjectStore(`store-${index}`));
      expect(new Set(claims).size).toBe(1);
      expect(await other.deployment.read()).toMatchObject({ objectStoreId: claims[0] });
      expect(await other.deployment.claimObjectStore('late')).toBe(claims[0]);
    });

    it('keeps the first Temporal namespace of many', async () => {
      const { store, other } = stores();
      await store.deployment.claim('dep', startMs);
      expect(await store.deployment.read()).toMatchObject({ temporalNamespace: null });
      const claims = await atOnce(10, stores(), (each, index) =>
        each.deployment.claimTemporalNamespace({ name: `ns-${index}`, id: `id-${index}` }),
      );
      const [first] = claims;
      expect(new Set(claims.map(({ name, id }) => `${name} ${id}`)).size).toBe(1);
      expect(first?.id).toBe(first?.name.replace('ns', 'id'));
      expect(await other.deployment.read()).toMatchObject({
        ...{ temporalNamespace: first?.name, temporalNamespaceId: first?.id },
      });
      expect(await other.deployment.claimTemporalNamespace({ name: 'late', id: null })).toEqual(first);
    });

    it('forgets its Temporal namespace only by name and id, and then takes another', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      await store.deployment.claim('dep', startMs);
      const known = await store.deployment.claimTemporalNamespace({ name: 'jobs', id: 'id-1' });
      const open = [await opened(store, slug), await opened(store, slug, { kind: 'cluster' })];
      const waiting = await admitted(store, slug);
      const ended = await opened(store, slug);
      const view = aJobView(slug, ended.number, { status: 'done', endedAtMs: startMs });
      await store.jobs.end({ view, version: 2, release: true, nowMs: startMs });
      const schedule = valueOf(await store.schedules.create(aSchedule(slug)));
      await store.schedules.synced(schedule.id, 1);
      for (const wrong of [
        { ...known, id: 'id-x' },
        { ...known, id: null },
        { ...known, name: 'other' },
      ]) {
        expect(await other.deployment.forgetTemporalNamespace(wrong)).toBe(false);
      }
      const all = { after: 0, limit: 100 };
      const missing = async () =>
        [...(await store.jobs.listOpen(all)), ...(await store.clusters.listOpen(all))].map((row) => row.missingSinceMs);
      expect([await missing(), await store.schedules.listUnsynced(10)]).toEqual([[null, null], []]);

      expect(await other.deployment.forgetTemporalNamespace(known)).toBe(true);
      expect(await other.deployment.forgetTemporalNamespace(known)).toBe(false);
      expect(await store.deployment.read()).toMatchObject({ temporalNamespace: null, temporalNamespaceId: null });
      expect(open.map(() => 0)).toEqual(await missing());
      expect((await store.schedules.listUnsynced(10)).map(({ id }) => id)).toEqual([schedule.id]);
      expect(await store.jobs.find(slug, ended.number)).toMatchObject({ state: 'ended', status: 'done' });
      expect(await store.jobs.find(slug, waiting.number)).toMatchObject({ state: 'admitted' });
      const next = { name: 'next', id: null };
      expect(await store.deployment.claimTemporalNamespace(next)).toEqual(next);
      expect(await store.deployment.forgetTemporalNamespace(next)).toBe(true);
    });

    it('keeps the first keys of many processes, and records those that are added later', async () => {
      const { store, other } = stores();
      await store.deployment.claim('dep', startMs);
      expect(await store.deployment.read()).toMatchObject({ keys: null });
      const key = (index: number) => keySet(`k${index}`, index);
      const outcomes = await atOnce(10, stores(), async (each, index) => ({
        ...(await each.deployment.claimKeys({
          current: key(index),
          byKid: (kid) => (kid === `k${index}` ? key(index) : null),
        })),
        kid: `k${index}`,
      }));
      expectOne(outcomes, (outcome) => outcome.do === 'record');
      const winner = Number(outcomes.find((outcome) => outcome.do === 'record')?.kid.slice(1));
      const known = (await other.deployment.read())?.keys?.map(({ kid }) => kid);
      expect(known).toEqual([`k${winner}`]);
      const rotated = { current: key(99), byKid: (kid: string) => (kid === 'k99' ? key(99) : key(winner)) };
      expect(await other.deployment.claimKeys(rotated)).toMatchObject({ do: 'record' });
      expect(await store.deployment.claimKeys(rotated)).toEqual({ do: 'keep' });
      expect((await store.deployment.read())?.keys?.map(({ kid }) => kid)).toEqual([`k${winner}`, 'k99']);
    });

    it('gives no reserved number, and never lowers its counter', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      await store.deployment.reserveNumbersTo(500);
      await store.deployment.reserveNumbersTo(20);
      expect(await store.deployment.read()).toMatchObject({ nextNumber: 501 });
      expect(await admitted(store, slug)).toMatchObject({ number: 501, name: 'job-501' });
    });

    it('answers a ping', async () => {
      await expect(stores().store.ping()).resolves.toBeUndefined();
    });
  });

  describe('deferred commands', () => {
    const stores = useStores(backend);

    it('are kept once each, in the order of their arrival, until they are deleted', async () => {
      const { store, other } = stores();
      const command = (number: number, createdAtMs: number) => ({
        ...{ kind: 'stop' as const, number, tasks: '', workspace: 'w', by: 'ada', createdAtMs },
      });
      await store.commands.put(command(2, 20));
      await store.commands.put(command(1, 30));
      await other.commands.put({ ...command(2, 40), by: 'bob' });
      await store.commands.put({ ...command(2, 50), kind: 'cancel' });
      await store.commands.put({ ...command(2, 60), kind: 'cancel', tasks: '1-3' });
      expect(await other.commands.list(10)).toEqual([
        command(2, 20),
        command(1, 30),
        { ...command(2, 50), kind: 'cancel' },
        { ...command(2, 60), kind: 'cancel', tasks: '1-3' },
      ]);
      expect(await store.commands.list(1)).toHaveLength(1);
      await store.commands.delete({ kind: 'stop', number: 2, tasks: '' });
      await store.commands.delete({ kind: 'stop', number: 2, tasks: '' });
      expect((await store.commands.list(10)).map(({ kind, number }) => `${kind} ${number}`)).toEqual([
        'stop 1',
        'cancel 2',
        'cancel 2',
      ]);
    });

    it('name as many tasks as a request may', async () => {
      const { store, other } = stores();
      // Digits that no database compresses into a small key.
      const tasks = Array.from({ length: 2_000 }, (_, index) => (index * 7_919) % 10_007)
        .join(',')
        .slice(0, maxTasksText);
      const command = { kind: 'cancel' as const, number: 9, tasks, workspace: 'w', by: 'ada', createdAtMs: 70 };
      for (const each of [store, other]) await each.commands.put(command);
      const stored = async () => (await other.commands.list(10)).filter(({ number }) => number === 9);
      expect(await stored()).toEqual([command]);
      await store.commands.delete(command);
      expect(await stored()).toEqual([]);
    });
  });
}

// The reconciliation's part: open rows, missing workflows, workflows without a row.
import { describe, expect, it } from 'vitest';

import {
  addWorkspace,
  admitted,
  aClusterView,
  aJobView,
  anItem,
  codeOf,
  opened,
  startMs,
  unique,
  valueOf,
  type Backend,
} from '../fixtures.ts';
import { useStores } from './opened.ts';

export function describeAdoption(backend: Backend): void {
  describe('open rows', () => {
    const stores = useStores(backend);

    it('are listed by number, without those that are admitted or ended', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const [first, second, third] = [await opened(store, slug), await opened(store, slug), await opened(store, slug)];
      await admitted(store, slug);
      const ended = await opened(store, slug);
      await store.jobs.end({ view: aJobView(slug, ended.number), version: 1, release: true, nowMs: startMs });
      await opened(store, slug, { kind: 'cluster' });
      const page = await store.jobs.listOpen({ after: 0, limit: 2 });
      expect(page.map(({ number }) => number)).toEqual([first.number, second.number]);
      expect(page[0]).toMatchObject({
        kind: 'job',
        workspace: slug,
        job: null,
        missingSinceMs: null,
        name: first.name,
      });
      const rest = await store.jobs.listOpen({ after: second.number, limit: 10 });
      expect(rest.map(({ number }) => number)).toEqual([third.number]);
    });

    it('remember since when their workflow is missing, until it is seen or writes a view', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { kind: 'cluster' });
      const missing = async () => {
        const [row] = await other.clusters.listOpen({ after: number - 1, limit: 1 });
        return row?.missingSinceMs;
      };
      await store.clusters.setMissing(number, startMs);
      expect(await missing()).toBe(startMs);
      await store.clusters.setMissing(number, null);
      expect(await missing()).toBeNull();
      await store.clusters.setMissing(number, startMs);
      await store.clusters.project({ view: aClusterView(slug, number), version: 1, nowMs: startMs });
      expect(await missing()).toBeNull();
    });
  });

  describe('adoption', () => {
    const stores = useStores(backend);
    const found = (workspace: string, number: number, name: string) => ({
      ...{ kind: 'job' as const, number, workspace, name, user: 'ada', admissionId: unique('adm'), specRef: 'specs/a' },
      ...{ privateToCreator: false, admittedAtMs: startMs, vcpus: 8 },
      view: aJobView(workspace, number, { name, instances: 4 }),
    });

    it('gives a workflow its row, name and reservation back, once, and its number to no other', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const input = found(slug, 7_000, 'lost');
      expect(await store.jobs.adopt(input)).toBe(true);
      expect(await other.jobs.adopt(input)).toBe(false);
      expect(await store.jobs.find(slug, 7_000)).toMatchObject({
        ...{
          state: 'open',
          status: 'running',
          name: 'lost',
          instances: 4,
          createdAtMs: startMs,
          command: 'python train.py',
        },
        view: input.view,
      });
      expect((await store.workspaces.usage(slug)).total).toEqual({ running: 1, instances: 4, vcpus: 8 });
      expect(codeOf(await store.admissions.admit(anItem(slug, { name: 'lost' }), startMs))).toBe('NAME_TAKEN');
      expect((await admitted(store, slug)).number).toBeGreaterThan(7_000);
      await store.jobs.project({ view: aJobView(slug, 7_000, { status: 'done' }), version: 1, nowMs: startMs });
      expect(await store.jobs.find(slug, 7_000)).toMatchObject({ status: 'done' });
    });

    it('leaves a name with the one that has it now', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const owner = await opened(store, slug, { name: 'shared' });
      expect(await store.jobs.adopt(found(slug, 8_000, 'shared'))).toBe(true);
      const answer = await admitted(store, slug, { name: 'shared', getOrCreate: true });
      expect(answer).toMatchObject({ number: owner.number, existing: true });
    });

    it('of a job and its cluster reserves once', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const job = found(slug, 9_000, 'pair');
      expect(await store.jobs.adopt(job)).toBe(true);
      const view = aClusterView(slug, 9_000, { job: 9_000, name: 'pair', target: 4 });
      expect(await store.clusters.adopt({ ...job, kind: 'cluster', view })).toBe(true);
      expect(await store.clusters.find(slug, 9_000)).toMatchObject({ job: 9_000, instances: 4, status: 'ready' });
      expect((await store.workspaces.usage(slug)).total).toEqual({ running: 1, instances: 4, vcpus: 8 });
    });

    it('brings a workspace back that the older database does not know; its people are added anew', async () => {
      const { store } = stores();
      const slug = unique('forgotten');
      expect(await store.jobs.adopt(found(slug, 9_500, 'alone'))).toBe(true);
      const token = { id: 'first', secretHash: 'a', expiresAtMs: null };
      expect(valueOf(await store.workspaces.create({ slug, admin: { name: 'eve', token }, nowMs: startMs })).user).toBe(
        'eve',
      );
    });
  });
}

// Views of jobs and clusters: written in order, ended once.
import { describe, expect, it } from 'vitest';

import {
  addWorkspace,
  admitted,
  aClusterView,
  aJobView,
  anItem,
  atOnce,
  codeOf,
  opened,
  startMs,
  type Backend,
} from '../fixtures.ts';
import { useStores } from './opened.ts';

export function describeRecords(backend: Backend): void {
  describe('views', () => {
    const stores = useStores(backend);

    it('are written when their version is newer', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug);
      const [old, recent] = [aJobView(slug, number, { status: 'pending' }), aJobView(slug, number)];
      await store.jobs.project({ view: recent, version: 7, nowMs: startMs + 7 });
      await other.jobs.project({ view: old, version: 6, nowMs: startMs + 8 });
      await other.jobs.project({ view: old, version: 7, nowMs: startMs + 9 });
      expect(await store.jobs.find(slug, number)).toMatchObject({
        ...{ status: 'running', view: recent, viewVersion: 7, viewAtMs: startMs + 7, state: 'open', endedAtMs: null },
      });
    });

    it('have versions that can be read for many at once', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const [one, two] = [
        await opened(store, slug, { kind: 'cluster' }),
        await opened(store, slug, { kind: 'cluster' }),
      ];
      await store.clusters.project({ view: aClusterView(slug, one.number), version: 3, nowMs: startMs });
      const view = aClusterView(slug, two.number);
      await store.clusters.end({ view, version: 5, release: true, nowMs: startMs });
      const read = await store.clusters.versions([one.number, two.number, 999_999]);
      expect(read.toSorted((a, b) => a.number - b.number)).toEqual([
        { number: one.number, version: 3, ended: false },
        { number: two.number, version: 5, ended: true },
      ]);
      expect(await store.clusters.versions([])).toEqual([]);
    });

    it('may begin with version 0', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug);
      await store.jobs.project({ view: aJobView(slug, number), version: 0, nowMs: startMs });
      expect(await store.jobs.find(slug, number)).toMatchObject({ status: 'running', viewVersion: 0 });
    });

    it('of many writers leave the newest', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug);
      await atOnce(30, stores(), (each, index) => {
        const version = ((index * 7) % 30) + 1;
        const view = aJobView(slug, number, { command: `version ${version}` });
        return each.jobs.project({ view, version, nowMs: startMs });
      });
      expect(await store.jobs.find(slug, number)).toMatchObject({ viewVersion: 30, view: { command: 'version 30' } });
    });

    it('keep any text, also that which no database stores as it is', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const command = 'echo \0 "\u2028" \u{1f980} \'; drop table records; --';
      const { number } = await opened(store, slug, { command });
      const view = aJobView(slug, number, { command });
      await store.jobs.project({ view, version: 1, nowMs: startMs });
      expect(await store.jobs.find(slug, number)).toMatchObject({ view, command: command.replace('\0', '\u{fffd}') });
    });

    it('and names and commands may be long', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const [name, user, command] = ['ü'.repeat(200), 'u'.repeat(100), '\u{1f980}'.repeat(100_000)];
      const { number } = await opened(store, slug, { name, user, command });
      const view = aJobView(slug, number, { name, user, command });
      await store.jobs.project({ view, version: 1, nowMs: startMs });
      expect(await store.jobs.find(slug, number)).toMatchObject({ name, command, view });
      const search = { text: 'ÜÜÜ', user };
      expect((await store.jobs.list({ workspace: slug, search, limit: 5 })).items).toMatchObject([{ number }]);
    });

    it('of an unknown number make no row', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      for (const number of [900_001, 900_002]) {
        await store.jobs.project({ view: aJobView(slug, number), version: 1, nowMs: startMs });
        await store.clusters.project({ view: aClusterView(slug, number, { job: number }), version: 1, nowMs: startMs });
        await store.jobs.end({ view: aJobView(slug, number), version: 1, release: true, nowMs: startMs });
        expect(await store.jobs.find(slug, number)).toBeNull();
        expect(await store.clusters.find(slug, number)).toBeNull();
      }
    });

    it('make the row of a job’s cluster from the job’s', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const made = await opened(store, slug, { user: 'bob', privateToCreator: true, instances: 2 });
      const view = (status: 'starting' | 'ready') =>
        aClusterView(slug, made.number, {
          job: made.number,
          user: 'bob',
          name: made.name,
          status,
          createdAtMs: startMs + 3,
        });
      await atOnce(10, stores(), (each, index) =>
        each.clusters.project({ view: view(index === 9 ? 'ready' : 'starting'), version: index + 1, nowMs: startMs }),
      );
      expect(await store.clusters.find(slug, made.number)).toMatchObject({
        ...{ job: made.number, user: 'bob', privateToCreator: true, admissionId: made.admissionId, state: 'open' },
        ...{ command: 'python train.py', createdAtMs: startMs + 3, status: 'ready', viewVersion: 10, name: made.name },
      });
      expect(await store.jobs.find(slug, made.number)).toMatchObject({ view: null, job: null });
    });
  });

  describe('ends', () => {
    const stores = useStores(backend);

    it('happen once: nothing changes an ended row', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug);
      const final = aJobView(slug, number, { status: 'done', endedAtMs: startMs + 50 });
      // A final view counts although a newer version was seen: the workflow that wrote it may have been reset.
      await store.jobs.project({ view: aJobView(slug, number), version: 9, nowMs: startMs });
      await store.jobs.end({ view: final, version: 4, release: true, nowMs: startMs + 60 });
      const ended = await store.jobs.find(slug, number);
      expect(ended).toMatchObject({
        state: 'ended',
        status: 'done',
        endedAtMs: startMs + 50,
        view: final,
        viewVersion: 4,
      });
      await other.jobs.project({ view: aJobView(slug, number), version: 99, nowMs: startMs + 70 });
      await other.jobs.end({
        view: aJobView(slug, number, { status: 'error' }),
        version: 99,
        release: true,
        nowMs: startMs,
      });
      await other.admissions.started('job', number);
      expect(await other.jobs.find(slug, number)).toEqual(ended);
    });

    it('release name and quota', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store, { running: 1 });
      const { number } = await opened(store, slug, { name: 'dash', kind: 'cluster' });
      const view = aClusterView(slug, number, { status: 'stopped', endedAtMs: startMs });
      for (const _ of [1, 2]) await store.clusters.end({ view, version: 1, release: true, nowMs: startMs });
      expect((await store.workspaces.usage(slug)).total).toEqual({ running: 0, instances: 0, vcpus: 0 });
      expect(await admitted(store, slug, { name: 'dash' })).toMatchObject({ existing: false });
    });

    it('of a job keep name and quota until its cluster has ended', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { name: 'train', instances: 5 });
      const job = aJobView(slug, number, { status: 'done', endedAtMs: startMs });
      await store.jobs.end({ view: job, version: 2, release: false, nowMs: startMs });
      expect((await store.workspaces.usage(slug)).total).toMatchObject({ running: 1, instances: 5 });
      expect(codeOf(await store.admissions.admit(anItem(slug, { name: 'train' }), startMs))).toBe('NAME_TAKEN');
      // The cluster's first view may be its last.
      const cluster = aClusterView(slug, number, { job: number, status: 'stopped', endedAtMs: startMs + 9 });
      await store.clusters.end({ view: cluster, version: 1, release: true, nowMs: startMs + 9 });
      expect(await store.clusters.find(slug, number)).toMatchObject({ state: 'ended', endedAtMs: startMs + 9 });
      expect((await store.workspaces.usage(slug)).total.running).toBe(0);
      expect(await admitted(store, slug, { name: 'train' })).toMatchObject({ existing: false });
    });

    it('have the time of the call when the view has none', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug);
      await store.jobs.end({ view: aJobView(slug, number), version: 1, release: true, nowMs: startMs + 8 });
      expect(await store.jobs.find(slug, number)).toMatchObject({ endedAtMs: startMs + 8 });
    });
  });
}

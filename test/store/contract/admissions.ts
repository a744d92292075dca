// Admissions: keys, names, limits and numbers, one caller at a time and many at once.
import { describe, expect, it } from 'vitest';

import {
  addWorkspace,
  aJobView,
  admitted,
  anItem,
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

const dayMs = 24 * 3_600_000;

export function describeAdmissions(backend: Backend): void {
  describe('admissions', () => {
    const stores = useStores(backend);

    it('that run failed tasks of one job again are one at a time', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number: failed } = await opened(store, slug);
      const answers = await atOnce(6, stores(), (each) =>
        each.admissions.admit(anItem(slug, { retryOf: failed }), startMs),
      );
      expectOne(answers, (answer) => 'ok' in answer);
      expect(answers.map(codeOf).filter((code) => code === 'CONFLICT')).toHaveLength(5);
      const number = answers.map((answer) => ('ok' in answer ? answer.ok.number : 0)).find((each) => each > 0) ?? 0;
      expect(await admitted(store, slug, { retryOf: number })).toMatchObject({ existing: false });
      await store.admissions.started('job', number);
      const view = aJobView(slug, number, { status: 'error', endedAtMs: startMs });
      await store.jobs.end({ view, version: 1, release: true, nowMs: startMs });
      expect(await admitted(store, slug, { retryOf: failed })).toMatchObject({ existing: false });
    });

    it('make a row, with the name of its number unless a name is given', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const item = anItem(slug, { kind: 'cluster', instances: 3, privateToCreator: true });
      const made = valueOf(await store.admissions.admit(item, startMs));
      const name = `cluster-${made.number}`;
      expect(made).toEqual({ number: made.number, name, admissionId: item.admissionId, existing: false, named: false });
      expect(await other.clusters.find(slug, made.number)).toEqual({
        ...{ number: made.number, workspace: slug, job: null, name, user: 'ada', state: 'admitted' },
        ...{ admissionId: item.admissionId, specRef: item.specRef, privateToCreator: true, command: item.command },
        ...{ status: 'pending', instances: 3, createdAtMs: startMs, endedAtMs: null, refusal: null },
        ...{ hostQueue: null, view: null, viewVersion: 0, viewAtMs: null },
      });
      expect(await store.jobs.find(slug, made.number)).toBeNull();
      expect(await admitted(store, slug, { name: 'train' })).toMatchObject({ name: 'train' });
    });

    it('are refused in an unknown workspace', async () => {
      expect(codeOf(await stores().store.admissions.admit(anItem('missing'), startMs))).toBe('NOT_FOUND');
    });

    it('refuse names in the form of default names', async () => {
      const { slug } = await addWorkspace(stores().store);
      const answer = await stores().store.admissions.admit(anItem(slug, { name: 'cluster-7' }), startMs);
      expect(codeOf(answer)).toBe('VALIDATION');
    });

    it('answer a repeated key with the same number for 24 hours, and refuse it for another body', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const item = anItem(slug, { name: 'train' });
      const made = valueOf(await store.admissions.admit(item, startMs));
      // The same request, sent again because its answer was lost, and a later one with the same key.
      expect(valueOf(await other.admissions.admit(item, startMs + 1))).toEqual(made);
      const later = { ...item, admissionId: unique('adm') };
      expect(valueOf(await other.admissions.admit(later, startMs + dayMs - 1))).toEqual({ ...made, existing: true });
      const reused = await other.admissions.admit({ ...item, bodyHash: 'another' }, startMs + 1);
      expect(codeOf(reused)).toBe('IDEMPOTENCY_MISMATCH');
      const expired = { ...item, name: '', bodyHash: 'another', admissionId: unique('adm') };
      const next = valueOf(await other.admissions.admit(expired, startMs + dayMs));
      expect(next).toMatchObject({ existing: false });
      expect(next.number).toBeGreaterThan(made.number);
    });

    it('keep keys of two workspaces apart', async () => {
      const { store } = stores();
      const [one, two] = [await addWorkspace(store), await addWorkspace(store)];
      const idempotencyKey = unique('key');
      const first = await admitted(store, one.slug, { idempotencyKey });
      const second = await admitted(store, two.slug, { idempotencyKey });
      expect(second.number).not.toBe(first.number);
    });

    it('give an open name to one of its kind only', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const first = await admitted(store, slug, { name: 'dash', kind: 'cluster' });
      const again = anItem(slug, { name: 'dash', kind: 'cluster', getOrCreate: true });
      const found = { ...first, existing: true, named: true };
      expect(valueOf(await store.admissions.admit(again, startMs))).toEqual(found);
      // A repeat of a request that found an existing name gets the same kind of answer: the object may be ending by now.
      expect(valueOf(await store.admissions.admit({ ...again, admissionId: unique('adm') }, startMs))).toEqual(found);
      const job = anItem(slug, { name: 'dash', getOrCreate: true });
      expect(codeOf(await store.admissions.admit(job, startMs))).toBe('NAME_TAKEN');
      expect(
        codeOf(
          await store.admissions.admit({ ...again, ...{ getOrCreate: false, idempotencyKey: unique('key') } }, startMs),
        ),
      ).toBe('NAME_TAKEN');
      const elsewhere = await addWorkspace(store);
      expect(await admitted(store, elsewhere.slug, { name: 'dash' })).toMatchObject({ existing: false });
    });

    it('give the name of an ending one to its successor, and the end of the first leaves it there', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const first = await admitted(store, slug, { name: 'dash' });
      const key = unique('key');
      const wanted = { name: 'dash', getOrCreate: true, idempotencyKey: key };
      expect(await admitted(store, slug, wanted)).toMatchObject({ number: first.number, named: true });
      // The caller has seen that it is ending, and repeats its request with the same key.
      const successor = await admitted(store, slug, { ...wanted, instead: first.number });
      expect(successor).toMatchObject({ name: 'dash', existing: false });
      await store.admissions.refused('job', first.number, { code: 'ENDED', text: '' }, startMs);
      const taken = await store.admissions.admit(anItem(slug, { name: 'dash' }), startMs);
      expect(taken).toMatchObject({
        error: { code: 'NAME_TAKEN', message: expect.stringContaining(`${successor.number}`) },
      });
      // A third caller that has seen the same ending one gets the successor.
      const late = await admitted(store, slug, { name: 'dash', getOrCreate: true, instead: first.number });
      expect(late).toMatchObject({ number: successor.number, named: true });
    });

    it('of 50 callers give a name to one', async () => {
      const { slug } = await addWorkspace(stores().store);
      const answers = await atOnce(50, stores(), (store) =>
        store.admissions.admit(anItem(slug, { name: 'one' }), startMs),
      );
      expectOne(answers, (answer) => 'ok' in answer);
      expect(answers.map(codeOf).filter((code) => code === 'NAME_TAKEN')).toHaveLength(49);
    });

    it('of 50 callers who get or create a name create one', async () => {
      const { slug } = await addWorkspace(stores().store);
      const made = await atOnce(50, stores(), (store) => admitted(store, slug, { name: 'one', getOrCreate: true }));
      expectOne(made, ({ existing }) => !existing);
      expect(new Set(made.map(({ number }) => number)).size).toBe(1);
    });

    it('of 50 callers with one key create one', async () => {
      const { slug } = await addWorkspace(stores().store);
      const idempotencyKey = unique('key');
      const made = await atOnce(50, stores(), (store) => admitted(store, slug, { idempotencyKey }));
      expectOne(made, ({ existing }) => !existing);
      expect(new Set(made.map(({ number }) => number)).size).toBe(1);
      expect((await stores().store.workspaces.usage(slug)).total.running).toBe(1);
    });

    it('of 50 callers fill a limit exactly', async () => {
      const { slug } = await addWorkspace(stores().store, { vcpus: 30 });
      const answers = await atOnce(50, stores(), (store) =>
        store.admissions.admit(anItem(slug, { vcpus: 4 }), startMs),
      );
      expect(answers.filter((answer) => 'ok' in answer)).toHaveLength(7);
      expect(answers.map(codeOf).filter((code) => code === 'LIMIT_EXCEEDED')).toHaveLength(43);
      expect((await stores().store.workspaces.usage(slug)).total).toEqual({ running: 7, instances: 7, vcpus: 28 });
    });

    it('give every number once, whichever workspace asks', async () => {
      const { store } = stores();
      const slugs = [await addWorkspace(store), await addWorkspace(store), await addWorkspace(store)].map(
        ({ slug }) => slug,
      );
      const made = await atOnce(60, stores(), (each, index) => admitted(each, slugs[index % 3] ?? ''));
      expect(new Set(made.map(({ number }) => number)).size).toBe(60);
      await store.deployment.claim('dep', startMs);
      const newest = Math.max(...made.map(({ number }) => number));
      expect(await store.deployment.read()).toMatchObject({ nextNumber: newest + 1 });
    });

    it('fail alone: one that the database cannot store does not fail those beside it', async () => {
      const { slug } = await addWorkspace(stores().store);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          admitted(stores().store, slug, index === 7 ? { idempotencyKey: 'a\0b' } : {}),
        ),
      );
      const failed = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []));
      // SQLite stores NUL in text, PostgreSQL does not.
      expect([[], [7]]).toContainEqual(failed);
      expect((await stores().store.workspaces.usage(slug)).total.running).toBe(20 - failed.length);
    });

    it('hold a user to the limits of each user, or to their own', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const perUser = { running: 1 };
      valueOf(await store.workspaces.configure(slug, { limits: {}, perUser, by: admin }, startMs));
      valueOf(await store.people.putUser(slug, { name: 'bob', limits: { running: 2 }, by: admin }, startMs));
      const admit = async (user: string) => codeOf(await store.admissions.admit(anItem(slug, { user }), startMs));
      expect([await admit('ada'), await admit('ada')]).toEqual([null, 'LIMIT_EXCEEDED']);
      expect([await admit('bob'), await admit('bob'), await admit('bob')]).toEqual([null, null, 'LIMIT_EXCEEDED']);
    });
  });
}

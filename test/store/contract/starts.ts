// From the admitted row to the started workflow.
import { describe, expect, it } from 'vitest';

import { addWorkspace, admitted, aJobView, anItem, atOnce, codeOf, startMs, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

export function describeStarts(backend: Backend): void {
  describe('claims', () => {
    const stores = useStores(backend);

    it('give each admitted row to one process, oldest first', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const made = await atOnce(60, stores(), (each) => admitted(each, slug));
      const query = { limit: 7, nowMs: startMs, claimUntilMs: startMs + 100 };
      const claims = await atOnce(20, stores(), (each) => each.admissions.claim(query));
      for (const claim of claims) {
        const numbers = claim.map(({ number }) => number);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(numbers.length).toBeLessThanOrEqual(7);
      }
      // Calls that met the lock of another one may have left rows for the next poll.
      const rest = await other.admissions.claim({ ...query, limit: 100 });
      const claimed = [...claims.flat(), ...rest].map(({ number }) => number);
      expect(claimed.toSorted((a, b) => a - b)).toEqual(made.map(({ number }) => number).toSorted((a, b) => a - b));
    });

    it('say what the start of the workflow needs, and end by themselves', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const item = anItem(slug, { kind: 'cluster', name: 'dash', user: 'bob', privateToCreator: true });
      const answer = await store.admissions.admit(item, startMs);
      const number = 'ok' in answer ? answer.ok.number : 0;
      const query = { limit: 10, nowMs: startMs, claimUntilMs: startMs + 100, number };
      const { admissionId, specRef } = item;
      expect(await store.admissions.claim(query)).toEqual([
        {
          ...{ kind: 'cluster', number, workspace: slug, name: 'dash', user: 'bob', admissionId, specRef },
          ...{ privateToCreator: true, admittedAtMs: startMs },
        },
      ]);
      expect(await other.admissions.claim({ ...query, nowMs: startMs + 99 })).toEqual([]);
      expect(
        await other.admissions.claim({ ...query, nowMs: startMs + 100, claimUntilMs: startMs + 200 }),
      ).toHaveLength(1);
    });

    it('leave rows of a host unclaimed while as many are open there as it takes, and others not', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const onHost = (hostQueue: string | null) => admitted(store, slug, { hostQueue });
      const numbers: number[] = [];
      for (const host of ['local/one', 'local/one', 'local/one', 'local/two', null]) {
        numbers.push((await onHost(host)).number);
      }
      const [first = 0, second = 0, third = 0, elsewhere = 0, cloud = 0] = numbers;
      const claim = async (limit: number): Promise<number[]> => {
        const query = { limit, nowMs: startMs, claimUntilMs: startMs + 100, maxOpenOnHost: 2 };
        return (await other.admissions.claim(query))
          .map(({ number }) => number)
          .filter((each) => numbers.includes(each));
      };
      expect(await claim(3)).toEqual([first, second]);
      expect(await claim(10)).toEqual([elsewhere, cloud]);
      expect(await claim(10)).toEqual([]);
      const view = aJobView(slug, first, { status: 'done', endedAtMs: startMs });
      await store.jobs.end({ view, version: 1, release: true, nowMs: startMs });
      expect(await store.jobs.find(slug, third)).toMatchObject({ state: 'admitted', hostQueue: 'local/one' });
      expect(await claim(10)).toEqual([third]);
    });

    it('follow the priority, then the number, also where a host has little room', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const hostQueue = 'local/by-priority';
      const numbers: number[] = [];
      for (const priority of [undefined, -5, 7, 7, 0]) {
        const queue = priority === undefined ? {} : { queue: { priority, after: [] } };
        numbers.push((await admitted(store, slug, { hostQueue, ...queue })).number);
      }
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(4);
      const [plain, low, high, alsoHigh, zero] = numbers;
      const claim = async (claimUntilMs: number, maxOpenOnHost: number): Promise<number[]> =>
        (await other.admissions.claim({ limit: 100, nowMs: startMs, claimUntilMs, maxOpenOnHost }))
          .map(({ number }) => number)
          .filter((each) => numbers.includes(each));
      expect(await claim(startMs + 100, 2)).toEqual([high, alsoHigh]);
      expect(await claim(startMs + 100, 3)).toEqual([plain]);
      expect(await claim(startMs + 100, 5)).toEqual([zero, low]);
    });

    it('leave out what was started', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await admitted(store, slug);
      for (const _ of [1, 2]) await store.admissions.started('job', number);
      expect(await store.jobs.find(slug, number)).toMatchObject({ state: 'open', status: 'pending' });
      const query = { limit: 10, nowMs: startMs, claimUntilMs: startMs + 1, number };
      expect(await store.admissions.claim(query)).toEqual([]);
    });

    it('leave out what has written a view, though the starter crashed before it could say so', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await admitted(store, slug);
      await store.jobs.project({ view: aJobView(slug, number), version: 1, nowMs: startMs });
      const query = { limit: 10, nowMs: startMs, claimUntilMs: startMs + 1, number };
      expect(await store.admissions.claim(query)).toEqual([]);
    });
  });

  describe('refused starts', () => {
    const stores = useStores(backend);

    it('end the row with the reason, and release name and quota', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store, { running: 1 });
      const { number } = await admitted(store, slug, { name: 'train' });
      expect(codeOf(await store.admissions.admit(anItem(slug), startMs))).toBe('LIMIT_EXCEEDED');
      await store.admissions.refused('job', number, { code: 'BAD', text: 'The specification is gone.' }, startMs + 5);
      await store.admissions.refused('job', number, { code: 'LATE', text: '' }, startMs + 6);
      expect(await store.jobs.find(slug, number)).toMatchObject({
        ...{ state: 'ended', status: 'error', endedAtMs: startMs + 5, view: null },
        refusal: { code: 'BAD', text: 'The specification is gone.' },
      });
      expect(await admitted(store, slug, { name: 'train' })).toMatchObject({ existing: false });
    });

    it('end a row that no process has claimed, as cancelled, and no other', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const [first, second] = [await admitted(store, slug), await admitted(store, slug)];
      const end = (number: number) => {
        const reason = { code: 'CANCELLED', text: 'Cancelled by ada.' };
        const item = { kind: 'job', number, status: 'cancelled', reason, nowMs: startMs + 5 } as const;
        return Promise.all([store, other].map((each) => each.admissions.endUnclaimed(item)));
      };
      const claim = { limit: 1, nowMs: startMs, claimUntilMs: startMs + 1 };
      expect(await store.admissions.claim({ ...claim, number: first.number })).toHaveLength(1);
      expect(await end(first.number)).toEqual([false, false]);
      expect((await end(second.number)).filter(Boolean)).toEqual([true]);
      expect(await store.jobs.find(slug, second.number)).toMatchObject({
        ...{ state: 'ended', status: 'cancelled', endedAtMs: startMs + 5, refusal: { code: 'CANCELLED' } },
      });
      expect(await store.admissions.claim({ ...claim, number: second.number })).toEqual([]);
      expect((await store.workspaces.usage(slug)).total.running).toBe(1);
    });

    it('do nothing to a row whose workflow was started', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await admitted(store, slug);
      await store.admissions.started('job', number);
      await store.admissions.refused('job', number, { code: 'LATE', text: '' }, startMs);
      expect(await store.jobs.find(slug, number)).toMatchObject({ state: 'open', refusal: null });
      expect((await store.workspaces.usage(slug)).total.running).toBe(1);
    });
  });
}

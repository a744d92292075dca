// Pages of jobs and clusters: filters, search, any depth.
import { beforeAll, describe, expect, it } from 'vitest';

import type { RecordQuery, Store } from '../../../store/store.ts';
import {
  addWorkspace,
  admitted,
  aClusterView,
  aJobView,
  opened,
  startMs,
  unique,
  valueOf,
  anItem,
  type Backend,
} from '../fixtures.ts';
import { useStores } from './opened.ts';

const numbersOf = async (store: Store, query: Omit<RecordQuery, 'limit'>, kind: 'jobs' | 'clusters' = 'jobs') =>
  (await store[kind].list({ limit: 100, ...query })).items.map(({ number }) => number);

export function describeLists(backend: Backend): void {
  describe('lists', () => {
    const stores = useStores(backend);

    it('filter by every field, and all conditions hold', async () => {
      const { store } = stores();
      const { slug: workspace } = await addWorkspace(store);
      const elsewhere = await addWorkspace(store);
      await opened(store, elsewhere.slug, { name: 'same' });
      const at = async (offsetMs: number, over = {}) =>
        valueOf(await store.admissions.admit(anItem(workspace, over), startMs + offsetMs)).number;
      const a = await at(0, { name: 'same' });
      const b = await at(10, { user: 'bob' });
      const c = await at(20, { user: 'bob' });
      await store.jobs.project({ view: aJobView(workspace, b), version: 1, nowMs: startMs });
      await store.jobs.end({
        view: aJobView(workspace, c, { status: 'done' }),
        version: 1,
        release: true,
        nowMs: startMs,
      });
      expect(await numbersOf(store, { workspace })).toEqual([c, b, a]);
      expect(await numbersOf(store, { workspace, statuses: ['pending', 'done'] })).toEqual([c, a]);
      expect(await numbersOf(store, { workspace, statuses: [] })).toEqual([]);
      expect(await numbersOf(store, { workspace, name: 'same' })).toEqual([a]);
      expect(await numbersOf(store, { workspace, name: 'SAME' })).toEqual([]);
      expect(await numbersOf(store, { workspace, isOpen: true })).toEqual([b, a]);
      expect(await numbersOf(store, { workspace, isOpen: false })).toEqual([c, b, a]);
      expect(await numbersOf(store, { workspace, user: 'bob' })).toEqual([c, b]);
      expect(await numbersOf(store, { workspace, sinceMs: startMs + 10 })).toEqual([c, b]);
      expect(await numbersOf(store, { workspace, untilMs: startMs + 10 })).toEqual([b, a]);
      expect(await numbersOf(store, { workspace, before: c })).toEqual([b, a]);
      expect(
        await numbersOf(store, { workspace, user: 'bob', isOpen: true, statuses: ['running'], before: c }),
      ).toEqual([b]);
      expect(await numbersOf(store, { workspace: 'missing' })).toEqual([]);
      expect(await numbersOf(store, { workspace }, 'clusters')).toEqual([]);
    });

    it('separate clusters of jobs from clusters of their own', async () => {
      const { store } = stores();
      const { slug: workspace } = await addWorkspace(store);
      const dask = await opened(store, workspace, { kind: 'cluster' });
      const job = await opened(store, workspace);
      const view = aClusterView(workspace, job.number, { job: job.number });
      await store.clusters.project({ view, version: 1, nowMs: startMs });
      expect(await numbersOf(store, { workspace }, 'clusters')).toEqual([job.number, dask.number]);
      expect(await numbersOf(store, { workspace, kind: 'job' }, 'clusters')).toEqual([job.number]);
      expect(await numbersOf(store, { workspace, kind: 'dask' }, 'clusters')).toEqual([dask.number]);
    });

    it('find a part of a name or command, in any case, as it is written', async () => {
      const { store } = stores();
      const { slug: workspace } = await addWorkspace(store);
      const texts = [
        '100% done',
        '100 times',
        'a_b',
        'aXb',
        `it's "quoted"`,
        'back\\slash',
        'ÄÖÜ Straße',
        'naïve',
        '🦀 crab',
      ];
      const made = new Map<string, number>();
      for (const command of texts) made.set(command, (await admitted(store, workspace, { command })).number);
      const find = async (text: string) => {
        const numbers = await numbersOf(store, { workspace, search: { text, user: 'ada' } });
        return texts.filter((each) => numbers.includes(made.get(each) ?? 0));
      };
      expect(await find('100%')).toEqual(['100% done']);
      expect(await find('A_B')).toEqual(['a_b']);
      expect(await find(`'s "Q`)).toEqual([`it's "quoted"`]);
      expect(await find('\\')).toEqual(['back\\slash']);
      expect(await find('äöü STRAß')).toEqual(['ÄÖÜ Straße']);
      // With a combining diaeresis, as some keyboards and file systems write it.
      expect(await find('nai\u0308ve')).toEqual(['naïve']);
      expect(await find('🦀')).toEqual(['🦀 crab']);
      expect(await find('%')).toEqual(['100% done']);
      expect(await find('absent')).toEqual([]);
      expect(await find('')).toEqual(texts);
      const named = await admitted(store, workspace, { name: 'Nightly-Run', command: 'x' });
      expect(await numbersOf(store, { workspace, search: { text: 'nightly', user: 'bob' } })).toEqual([named.number]);
    });

    it('find the private jobs of others by their names only', async () => {
      const { store } = stores();
      const { slug: workspace } = await addWorkspace(store);
      const hidden = { name: unique('Diary'), command: 'cat secret-plan', privateToCreator: true };
      const { number } = await admitted(store, workspace, hidden);
      const search = (text: string, user: string) => numbersOf(store, { workspace, search: { text, user } });
      expect(await search('secret', 'ada')).toEqual([number]);
      expect(await search('secret', 'bob')).toEqual([]);
      expect(await search('diary', 'bob')).toEqual([number]);
    });
  });

  describe('a list of 5,000 jobs', () => {
    const stores = useStores(backend);
    let workspace = '';
    beforeAll(async () => {
      const { store } = stores();
      workspace = (await addWorkspace(store)).slug;
      for (let from = 1; from <= 5_000; from += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, n) => store.jobs.adopt(found(from + n))));
      }
    }, 120_000);
    /** Adopted, because that is the fastest way to a row. */
    const found = (number: number): Parameters<Store['jobs']['adopt']>[0] => {
      const user = number % 2 === 0 ? 'ada' : 'bob';
      const name = `job-${number}`;
      const rest = {
        admissionId: unique('adm'),
        specRef: 's',
        privateToCreator: false,
        admittedAtMs: startMs,
        vcpus: 1,
      };
      return { kind: 'job', number, workspace, name, user, ...rest, view: aJobView(workspace, number, { name, user }) };
    };

    it.each([{}, { user: 'bob' }, { search: { text: 'TRAIN', user: 'ada' } }, { statuses: ['pending', 'running'] }])(
      'is read to its end in pages: %j',
      async (filter) => {
        const seen: number[] = [];
        for (let before = Infinity, hasMore = true; hasMore;) {
          const query = { workspace, limit: 333, ...filter, ...(before === Infinity ? {} : { before }) };
          const page = await stores().other.jobs.list(query);
          expect(page.items.length).toBe(page.hasMore ? 333 : page.items.length);
          seen.push(...page.items.map(({ number }) => number));
          before = seen.at(-1) ?? 0;
          hasMore = page.hasMore;
        }
        expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => b - a));
        expect(seen).toHaveLength('user' in filter ? 2_500 : 5_000);
      },
    );
  });
}

// Jobs that wait for other jobs.
import { describe, expect, it } from 'vitest';

import { addWorkspace, admitted, aJobView, opened, startMs, valueOf, anItem, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const after = (...numbers: number[]) => ({
  queue: { priority: 0, after: numbers.map((number) => ({ number, needsSuccess: false })) },
});

export function describeQueue(backend: Backend): void {
  describe('the queue', () => {
    const stores = useStores(backend);

    it('is left once, whichever process sees the end of the last awaited job', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      for (let round = 0; round < 8; round += 1) {
        const awaited = await Promise.all([store, other, store].map((each) => opened(each, slug)));
        const { number } = await admitted(store, slug, after(...awaited.map((job) => job.number)));
        expect(await other.jobs.find(slug, number)).toMatchObject({ state: 'waiting', status: 'waiting' });
        await Promise.all(
          awaited.map((job, index) =>
            (index % 2 === 0 ? store : other).jobs.end({
              ...{ version: 9, release: true, nowMs: startMs },
              view: aJobView(slug, job.number, { status: 'done', endedAtMs: startMs }),
            }),
          ),
        );
        const moved = await Promise.all([store, other].map((each) => each.admissions.admitWaiting(startMs)));
        expect(moved.reduce((sum, each) => sum + each.admitted, 0)).toBe(1);
        expect(await store.jobs.find(slug, number)).toMatchObject({
          state: 'admitted',
          status: 'pending',
          refusal: null,
        });
        await store.admissions.refused('job', number, { code: 'X', text: 'x' }, startMs);
      }
    });

    it('misses no end that comes while a job joins it', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      for (let round = 0; round < 8; round += 1) {
        const job = await opened(store, slug);
        const view = aJobView(slug, job.number, { status: 'done', endedAtMs: startMs });
        const [answer] = await Promise.all([
          store.admissions.admit(anItem(slug, after(job.number)), startMs),
          other.jobs.end({ view, version: 9, release: true, nowMs: startMs }),
        ]);
        const { number } = valueOf(answer);
        await other.admissions.admitWaiting(startMs);
        expect(await store.jobs.find(slug, number)).toMatchObject({ state: 'admitted' });
        await store.admissions.refused('job', number, { code: 'X', text: 'x' }, startMs);
      }
    });

    it('releases the name of a job that is cancelled in it, once', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const job = await opened(store, slug);
      const { number } = await admitted(store, slug, { name: 'later', ...after(job.number) });
      const reason = { code: 'CANCELLED', text: 'Cancelled by ada.' };
      const cancels = await Promise.all(
        [store, other].map((each) => each.admissions.cancelWaiting(number, reason, startMs)),
      );
      expect(cancels.filter(Boolean)).toHaveLength(1);
      expect(await store.jobs.find(slug, number)).toMatchObject({
        state: 'ended',
        status: 'cancelled',
        refusal: reason,
      });
      expect(await admitted(other, slug, { name: 'later' })).toMatchObject({ existing: false });
    });
  });
}

// Jobs that wait for other jobs.
import { describe, expect, it } from 'vitest';

import type { Budget } from '../../../domain/budget/budget.ts';
import { addWorkspace, admitted, aJobView, opened, startMs, valueOf, anItem, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const after = (...numbers: number[]) => ({
  queue: { priority: 0, after: numbers.map((number) => ({ number, needsSuccess: false })) },
});

const dayMs = 86_400_000;

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

    it('admits nothing of a user whose budget is used up, until it is raised or its period ends', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store, { running: 1_000, instances: 1_000, vcpus: 1_000 });
      const budget: Budget = {
        ...{ name: 'day', subject: { kind: 'user', user: 'ada' }, period: 'day', micros: 5_000_000 },
        ...{ warnShare: 0.8, action: 'refuse' },
      };
      const fromMs = startMs - (startMs % dayMs);
      const useUp = async (action: Budget['action']): Promise<void> => {
        valueOf(await store.budgets.put(slug, { budget: { ...budget, action }, by: null }, startMs));
        const standing = { fromMs, micros: 5_000_000, microsPerHour: 0, level: 'exceeded' as const };
        await store.budgets.counted(slug, new Map([['day', standing]]), startMs);
      };
      const waitingJob = async (user: string, priority: number): Promise<number> => {
        const { number: awaited } = await opened(store, slug, { user });
        const { number } = await admitted(store, slug, { user, queue: { ...after(awaited).queue, priority } });
        const view = aJobView(slug, awaited, { status: 'done', endedAtMs: startMs });
        await store.jobs.end({ view, version: 9, release: true, nowMs: startMs });
        return number;
      };
      const states = async (numbers: number[]): Promise<(string | undefined)[]> =>
        (await Promise.all(numbers.map((number) => other.jobs.find(slug, number)))).map((row) => row?.state);

      for (const action of ['refuse', 'stop'] as const) {
        const own = [await waitingJob('ada', 9), await waitingJob('ada', 9)];
        const bobs = await waitingJob('bob', 0);
        await useUp(action);
        const moved = await Promise.all([store, other].map((each) => each.admissions.admitWaiting(startMs)));
        expect(moved.reduce((sum, each) => sum + each.admitted, 0)).toBe(1);
        expect(await states([...own, bobs])).toEqual(['waiting', 'waiting', 'admitted']);
        const refusal = { code: 'WAITING_FOR_BUDGET', text: expect.stringContaining('the budget day (') };
        expect(await other.jobs.find(slug, own[1] ?? 0)).toMatchObject({ refusal });
        // The job's other obstacles are reported after the budget is raised.
        valueOf(await store.workspaces.configure(slug, { limits: { running: 0 }, by: null }, startMs));
        valueOf(await store.budgets.put(slug, { budget: { ...budget, micros: 9_000_000 }, by: null }, startMs));
        expect((await other.admissions.admitWaiting(startMs)).admitted).toBe(0);
        expect(await other.jobs.find(slug, own[1] ?? 0)).toMatchObject({ refusal: { code: 'WAITING_FOR_QUOTA' } });
        valueOf(await store.workspaces.configure(slug, { limits: { running: 1_000 }, by: null }, startMs));
        await useUp(action);
        expect((await store.admissions.admitWaiting(fromMs + dayMs - 1)).admitted).toBe(0);
        expect((await store.admissions.admitWaiting(fromMs + dayMs)).admitted).toBe(2);
        expect(await other.jobs.find(slug, own[1] ?? 0)).toMatchObject({ state: 'admitted', refusal: null });
        await store.budgets.remove(slug, { name: 'day', by: null }, startMs);
      }
    });

    it("admits another user's job behind more held jobs than one round reads", async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store, { running: 1_000, instances: 1_000, vcpus: 1_000 });
      const { number: awaited } = await opened(store, slug, { user: 'bob' });
      const queue = { ...after(awaited).queue, priority: 9 };
      await Promise.all(Array.from({ length: 201 }, () => admitted(store, slug, { user: 'ada', queue })));
      const { number } = await admitted(store, slug, { user: 'bob', ...after(awaited) });
      const budget: Budget = {
        ...{ name: 'day', subject: { kind: 'user', user: 'ada' }, period: 'day', micros: 1 },
        ...{ warnShare: 0.8, action: 'refuse' },
      };
      valueOf(await store.budgets.put(slug, { budget, by: null }, startMs));
      const standing = { fromMs: startMs - (startMs % dayMs), micros: 1, microsPerHour: 0, level: 'exceeded' as const };
      await store.budgets.counted(slug, new Map([['day', standing]]), startMs);
      const view = aJobView(slug, awaited, { status: 'done', endedAtMs: startMs });
      await store.jobs.end({ view, version: 9, release: true, nowMs: startMs });
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(1);
      expect(await store.jobs.find(slug, number)).toMatchObject({ state: 'admitted' });
    });

    it("admits another user's job behind more jobs of a user without quota than one round reads", async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store, { running: 1_000, instances: 1_000, vcpus: 1_000 });
      const { number: awaited } = await opened(store, slug, { user: 'cleo' });
      valueOf(await store.people.putUser(slug, { name: 'ada', limits: { running: 1 }, by: null }, startMs));
      const queue = { ...after(awaited).queue, priority: 9 };
      await Promise.all(Array.from({ length: 203 }, () => admitted(store, slug, { user: 'ada', queue })));
      const { number } = await admitted(store, slug, { user: 'bob', ...after(awaited) });
      const view = aJobView(slug, awaited, { status: 'done', endedAtMs: startMs });
      await store.jobs.end({ view, version: 9, release: true, nowMs: startMs });
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(1);
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(1);
      expect(await store.jobs.find(slug, number)).toMatchObject({ state: 'admitted' });
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(0);
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

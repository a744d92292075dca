// Schedules of jobs: rows that Temporal follows, and runs that one process at a time submits.
import { describe, expect, it } from 'vitest';

import { maxRunsKept, maxSchedules } from '../../../domain/schedule/rules.ts';
import {
  addWorkspace,
  aSchedule,
  atOnce,
  codeOf,
  expectOne,
  startMs,
  unique,
  valueOf,
  type Backend,
} from '../fixtures.ts';
import { useStores } from './opened.ts';

const settled = { state: 'started' as const, job: 7, text: null };

export function describeSchedules(backend: Backend): void {
  describe('schedules', () => {
    const stores = useStores(backend);

    it('have a name of their own in their workspace, until they are deleted', async () => {
      const { store, other } = stores();
      const [{ slug }, { slug: elsewhere }] = [await addWorkspace(store), await addWorkspace(store)];
      const answers = await atOnce(4, stores(), (each) => each.schedules.create(aSchedule(slug, { name: 'one' })));
      expectOne(answers, (answer) => codeOf(answer) === null);
      expect(answers.map(codeOf).filter((code) => code !== null)).toEqual(Array(3).fill('NAME_TAKEN'));
      valueOf(await store.schedules.create(aSchedule(elsewhere, { name: 'one' })));
      expect(codeOf(await store.schedules.create(aSchedule('nowhere')))).toBe('NOT_FOUND');
      const [one] = await other.schedules.list(slug);
      await store.schedules.change(one?.id ?? '', { isDeleted: true });
      expect([await other.schedules.find(slug, 'one'), await other.schedules.findById(one?.id ?? '')]).toEqual([
        null,
        null,
      ]);
      const next = aSchedule(slug, { name: 'one', lastJob: 3, stopped: 'no user', isPaused: true });
      valueOf(await store.schedules.create(next));
      expect(await other.schedules.find(slug, 'one')).toEqual(next);
      expect(await other.schedules.find(elsewhere, 'one')).toMatchObject({ workspace: elsewhere });
    });

    it('are at most so many of a workspace', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      for (let count = 0; count < maxSchedules; count += 1) valueOf(await store.schedules.create(aSchedule(slug)));
      expect(codeOf(await store.schedules.create(aSchedule(slug)))).toBe('LIMIT_EXCEEDED');
      expect(await store.schedules.list(slug)).toHaveLength(maxSchedules);
    });

    it('are unsynced until Temporal has followed their newest version', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { id } = valueOf(await store.schedules.create(aSchedule(slug)));
      const unsynced = async () => (await other.schedules.listUnsynced(1_000)).find((each) => each.id === id);
      expect(await unsynced()).toMatchObject({ version: 1 });
      expect(await other.schedules.change(id, { isPaused: true })).toMatchObject({ version: 2, isPaused: true });
      await store.schedules.synced(id, 1);
      expect(await unsynced()).toMatchObject({ version: 2 });
      await store.schedules.synced(id, 2);
      await store.schedules.synced(id, 1);
      expect(await unsynced()).toBeUndefined();
      expect(await store.schedules.change(id, { stopped: 'why', isPaused: false })).toMatchObject({ stopped: 'why' });
      expect(await store.schedules.change(id, { stopped: null })).toMatchObject({ stopped: null, version: 4 });
    });

    it('that were deleted go with their runs, and only after their deletion was carried out', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { id } = valueOf(await store.schedules.create(aSchedule(slug)));
      await store.schedules.addRun({ schedule: id, run: unique('run'), atMs: startMs });
      const deleted = await store.schedules.change(id, { isDeleted: true });
      await other.schedules.synced(id, 1);
      const left = async () => (await other.schedules.listUnsynced(1_000)).filter((each) => each.id === id);
      expect(await left()).toMatchObject([{ isDeleted: true, version: 2 }]);
      expect(await store.schedules.addRun({ schedule: id, run: unique('run'), atMs: startMs })).toBe(false);
      expect(await store.schedules.change(id, { isPaused: true })).toBeNull();
      await other.schedules.synced(id, deleted?.version ?? 0);
      expect([await left(), await store.schedules.listRuns(id, 9)]).toEqual([[], []]);
    });

    it('have runs that are noted once, claimed by one process, and settled', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { id } = valueOf(await store.schedules.create(aSchedule(slug)));
      const run = unique('run');
      const added = await atOnce(4, stores(), (each) => each.schedules.addRun({ schedule: id, run, atMs: startMs }));
      expectOne(added, (isNew) => isNew);
      const claim = (nowMs: number) => ({ limit: 100, ofWorkspace: 100, nowMs, claimUntilMs: nowMs + 1_000 });
      const mine = (runs: { run: string }[]) => runs.filter((each) => each.run === run);
      const claims = await atOnce(4, stores(), (each) => each.schedules.claimRuns(claim(startMs)));
      expect(claims.flatMap(mine)).toHaveLength(1);
      expect(mine(await other.schedules.claimRuns(claim(startMs + 999)))).toEqual([]);
      // Its process has died: another one gets it.
      expect(mine(await other.schedules.claimRuns(claim(startMs + 1_000)))).toHaveLength(1);
      await other.schedules.settleRun(run, settled);
      expect(mine(await store.schedules.claimRuns(claim(startMs + 9_000)))).toEqual([]);
      expect(await store.schedules.listRuns(id, 9)).toEqual([{ schedule: id, run, atMs: startMs, ...settled }]);
      expect(await store.schedules.findById(id)).toMatchObject({ lastJob: 7 });
      const skipped = { state: 'skipped' as const, job: null, text: 'nul \u0000 byte' };
      const next = unique('run');
      await store.schedules.addRun({ schedule: id, run: next, atMs: startMs + 1 });
      await store.schedules.settleRun(next, skipped);
      expect((await other.schedules.listRuns(id, 1))[0]).toMatchObject({ run: next, state: 'skipped' });
      expect(await store.schedules.findById(id)).toMatchObject({ lastJob: 7 });
    });

    it('have so many runs of their workspace claimed at a time, and those of another workspace before the rest', async () => {
      const { store } = stores();
      const [{ slug }, { slug: elsewhere }] = [await addWorkspace(store), await addWorkspace(store)];
      const many = valueOf(await store.schedules.create(aSchedule(slug)));
      const one = valueOf(await store.schedules.create(aSchedule(elsewhere)));
      const add = (schedule: string) => store.schedules.addRun({ schedule, run: unique('run'), atMs: startMs - 1 });
      for (let count = 0; count < 30; count += 1) await add(many.id);
      await add(one.id);
      expect([await store.schedules.countDue(many.id), await store.schedules.countDue(one.id)]).toEqual([30, 1]);
      const claim = async () => {
        const query = { limit: 1_000, ofWorkspace: 5, nowMs: startMs, claimUntilMs: startMs + 1_000 };
        const runs = await store.schedules.claimRuns(query);
        return [many.id, one.id].map((id) => runs.filter(({ schedule }) => schedule === id).length);
      };
      expect([await claim(), await claim(), await claim()]).toEqual([
        [5, 1],
        [5, 0],
        [5, 0],
      ]);
    });

    it('keep their newest runs, and all that are due', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { id } = valueOf(await store.schedules.create(aSchedule(slug)));
      const runs = Array.from({ length: maxRunsKept + 3 }, () => unique('run'));
      for (const [index, run] of runs.entries()) {
        await store.schedules.addRun({ schedule: id, run, atMs: startMs + index });
        if (index !== 0) await store.schedules.settleRun(run, settled);
      }
      const kept = (await store.schedules.listRuns(id, 1_000)).map((each) => each.run);
      expect(kept).toHaveLength(maxRunsKept + 1);
      expect([kept.at(0), kept.at(-1), kept.includes(runs[1] ?? '')]).toEqual([runs.at(-1), runs[0], false]);
    });
  });
}

// Budgets: an admin's rows, their counts, and the notified clusters.
import { describe, expect, it } from 'vitest';

import type { Budget } from '../../../domain/budget/budget.ts';
import type { Standing } from '../../../domain/budget/standing.ts';
import { addWorkspace, codeOf, opened, startMs, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const budget: Budget = {
  ...{ name: 'ml', subject: { kind: 'user', user: 'ada' }, period: 'month', micros: 5_000_000 },
  ...{ warnShare: 0.8, action: 'stop' },
};
const standing: Standing = { fromMs: 0, micros: 4_500_000, microsPerHour: 100_000, level: 'warned' };

export function describeBudgets(backend: Backend): void {
  describe('budgets', () => {
    const stores = useStores(backend);

    it('are replaced by name, counted, and removed, in their workspace alone', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { slug: elsewhere } = await addWorkspace(store);
      const put = (item: Budget, at: number) => store.budgets.put(slug, { budget: item, by: null }, startMs + at);
      valueOf(await put(budget, 0));
      await store.budgets.counted(slug, new Map([['ml', standing]]), startMs + 2_000);
      // An earlier count, and one of a budget that does not exist, change nothing.
      const earlier = new Map([
        ['ml', { ...standing, micros: 1 }],
        ['gone', standing],
      ]);
      await other.budgets.counted(slug, earlier, startMs + 1_000);
      expect(await other.budgets.list(slug)).toEqual([{ ...budget, counted: { ...standing, atMs: startMs + 2_000 } }]);
      valueOf(await put({ ...budget, micros: 6_000_000 }, 3_000));
      expect(await other.budgets.list(slug)).toEqual([{ ...budget, micros: 6_000_000, counted: null }]);
      expect([await other.budgets.list(elsewhere), await other.budgets.workspaces()]).toEqual([
        [],
        expect.arrayContaining([slug]),
      ]);
      valueOf(await store.budgets.remove(slug, { name: 'ml', by: null }, startMs));
      expect(codeOf(await store.budgets.remove(slug, { name: 'ml', by: null }, startMs))).toBe('NOT_FOUND');
      const events = (await store.workspaces.events(slug, 10)).map(({ code }) => code);
      expect(events.filter((code) => code.startsWith('BUDGET'))).toEqual([
        ...['BUDGET_REMOVED', 'BUDGET', 'BUDGET_WARNING', 'BUDGET'],
      ]);
    });

    it('give the event and the notification of a new level once, when two replicas count it', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      valueOf(await store.budgets.put(slug, { budget, by: null }, startMs));
      const standings = new Map([['ml', standing]]);
      await Promise.all([store, other].map((each) => each.budgets.counted(slug, standings, startMs + 1)));
      const events = await store.workspaces.events(slug, 10);
      expect(events.filter(({ code }) => code === 'BUDGET_WARNING')).toHaveLength(1);
      const notified = () => store.notifications.list(slug, { before: null, limit: 10 });
      const data = { budget: 'ml', dollars: 5, spentDollars: 4.5, warnAtPercent: 80, action: 'stop' };
      expect(await notified()).toMatchObject([{ type: 'budget.warning', object: 'budget/ml', data }]);
      const exceeded: Standing = { ...standing, micros: 5_000_000, level: 'exceeded' };
      await other.budgets.counted(slug, new Map([['ml', exceeded]]), startMs + 2);
      expect((await notified()).map(({ type }) => type)).toEqual(['budget.exceeded', 'budget.warning']);
    });

    it('remember which open clusters were notified', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { kind: 'cluster' });
      await store.budgets.setHeld(number, 'used up');
      expect(await other.budgets.openClusters(slug)).toMatchObject([{ number, job: null, held: 'used up' }]);
      expect(await other.budgets.workspaces()).toContain(slug);
      await store.budgets.setHeld(number, null);
      expect(await other.budgets.openClusters(slug)).toMatchObject([{ number, held: null }]);
    });

    it('that are used up refuse admissions and growth, not what is smaller', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const { number } = await opened(store, slug, { kind: 'cluster', instances: 2, vcpus: 2, workerVcpus: 1 });
      const all: Budget = { ...budget, name: 'all', subject: { kind: 'workspace' }, period: 'run' };
      valueOf(await store.budgets.put(slug, { budget: { ...all, period: 'day' }, by: null }, startMs));
      const fromMs = startMs - (startMs % 86_400_000);
      await store.budgets.counted(slug, new Map([['all', { ...standing, fromMs, micros: 5_000_000 }]]), startMs);
      const reserve = (instances: number) => store.quotas.reserve({ number, kind: 'scale', instances }, startMs);
      expect(codeOf(await reserve(3))).toBe('BUDGET_EXCEEDED');
      valueOf(await reserve(1));
    });
  });
}

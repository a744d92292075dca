// Budgets of a workspace, their counts, and held clusters.
import type { CountedBudget } from '../domain/budget/admit.ts';
import { describeBudget, maxBudgets, type Budget, type BudgetSubject } from '../domain/budget/budget.ts';
import { levelEvent } from '../domain/budget/standing.ts';
import { budgetNotification } from '../domain/notifications/budget.ts';
import { needsAdmin } from '../domain/people/authority.ts';
import { peopleEvent } from '../domain/people/events.ts';
import type { BudgetStore } from './budget-port.ts';
import type { Database } from './database.ts';
import { insertNotification } from './notification-rows.ts';
import { callerOf, insertEvent, lockWorkspace } from './people-rows.ts';
import type { BudgetTable, Db } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

export function createBudgetStore(database: Database): BudgetStore {
  const { engine } = database;
  return {
    list: (workspace) => database.read((db) => listBudgets(db, workspace)),
    workspaces: () =>
      database.read(async (db) => {
        const having = await db.selectFrom('budgets').select('workspace').distinct().execute();
        const holding = await db
          .selectFrom('records')
          .select('workspace')
          .distinct()
          .where('state', '=', 'open')
          .where('held', 'is not', null)
          .execute();
        return [...new Set([...having, ...holding].map(({ workspace }) => workspace))];
      }),
    put: (workspace, { budget, by }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, workspace)) === null) return { error: noWorkspace(workspace) };
        const refused = needsAdmin(await callerOf(db, workspace, by), nowMs);
        if (refused !== null) return { error: refused };
        const known = await listBudgets(db, workspace);
        if (known.length >= maxBudgets && !known.some(({ name }) => name === budget.name)) return { error: tooMany };
        const row = rowOf(workspace, budget);
        await db
          .insertInto('budgets')
          .values(row)
          .onConflict((conflict) => conflict.columns(['workspace', 'name']).doUpdateSet(row))
          .execute();
        await insertEvent(db, workspace, peopleEvent(by, 'BUDGET', textOf(budget), nowMs));
        return { ok: budget };
      }),
    remove: (workspace, { name, by }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, workspace)) === null) return { error: noWorkspace(workspace) };
        const refused = needsAdmin(await callerOf(db, workspace, by), nowMs);
        if (refused !== null) return { error: refused };
        const known = (await listBudgets(db, workspace)).find((budget) => budget.name === name);
        if (known === undefined) {
          return { error: { code: 'NOT_FOUND', message: `There is no budget ${name} in this workspace.` } };
        }
        await db.deleteFrom('budgets').where('workspace', '=', workspace).where('name', '=', name).execute();
        await insertEvent(db, workspace, peopleEvent(by, 'BUDGET_REMOVED', describeBudget(known), nowMs));
        return { ok: known };
      }),
    counted: (workspace, standings, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, workspace)) === null) return;
        for (const budget of await listBudgets(db, workspace)) {
          const standing = standings.get(budget.name);
          if (standing === undefined || (budget.counted?.atMs ?? 0) > nowMs) continue;
          const event = levelEvent(budget, budget.counted, standing);
          if (event !== null) {
            await insertEvent(db, workspace, peopleEvent(null, event.code, event.text, nowMs));
            await insertNotification(db, budgetNotification(workspace, budget, { standing, event }), nowMs);
          }
          await db
            .updateTable('budgets')
            .set({
              counted_at_ms: nowMs,
              counted_from_ms: standing.fromMs,
              counted_micros: Math.round(standing.micros),
              counted_micros_per_hour: Math.round(standing.microsPerHour),
              counted_level: standing.level,
            })
            .where('workspace', '=', workspace)
            .where('name', '=', budget.name)
            .execute();
        }
      }),
    openClusters: (workspace) =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('records')
          .select(['number', 'job', 'user_name', 'held', 'created_at_ms'])
          .where('workspace', '=', workspace)
          .where('kind', '=', 'cluster')
          .where('state', '=', 'open')
          .execute();
        return rows.map((row) => ({
          ...{ number: row.number, job: row.job, user: row.user_name, held: row.held, createdAtMs: row.created_at_ms },
        }));
      }),
    setHeld: (number, held) =>
      database.write(async (db) => {
        await db
          .updateTable('records')
          .set({ held })
          .where('kind', '=', 'cluster')
          .where('number', '=', number)
          .execute();
      }),
  };
}

const tooMany = {
  code: 'LIMIT_EXCEEDED',
  message: `A workspace has at most ${maxBudgets} budgets.`,
  hint: 'Remove one: ropewalk budget remove NAME.',
} as const;

const textOf = (budget: Budget): string =>
  `${describeBudget(budget)}: warns at ${Math.round(budget.warnShare * 100)} %, then ${budget.action}`;

export async function listBudgets(db: Db, workspace: string): Promise<CountedBudget[]> {
  const rows = await db.selectFrom('budgets').selectAll().where('workspace', '=', workspace).execute();
  // Sorted here because PostgreSQL's order depends on the collation of the database.
  return rows.map(budgetOf).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const budgetOf = (row: BudgetTable): CountedBudget => ({
  ...{ name: row.name, subject: JSON.parse(row.subject) as BudgetSubject, period: row.period, micros: row.micros },
  ...{ warnShare: row.warn_percent / 100, action: row.action },
  counted:
    row.counted_at_ms === null
      ? null
      : {
          ...{ atMs: row.counted_at_ms, fromMs: row.counted_from_ms ?? 0, micros: row.counted_micros ?? 0 },
          ...{ microsPerHour: row.counted_micros_per_hour ?? 0, level: row.counted_level ?? 'ok' },
        },
});

const rowOf = (workspace: string, { name, subject, period, micros, warnShare, action }: Budget): BudgetTable => ({
  ...{ workspace, name, subject: JSON.stringify(subject), period, micros, action },
  warn_percent: Math.round(warnShare * 100),
  ...{ counted_at_ms: null, counted_from_ms: null, counted_micros: null, counted_micros_per_hour: null },
  counted_level: null,
});

// Stops and cancels that wait for Temporal.
import type { Database } from './database.ts';
import type { CommandStore } from './store.ts';

export function createCommandStore(database: Database): CommandStore {
  return {
    put: ({ kind, number, tasks, workspace, by, createdAtMs }) =>
      database.write(async (db) => {
        await db
          .insertInto('deferred_commands')
          .values({ kind, number, tasks, workspace, by_user: by, created_at_ms: createdAtMs })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }),
    list: async (limit) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('deferred_commands')
          .select(['kind', 'number', 'tasks', 'workspace', 'by_user as by', 'created_at_ms as createdAtMs'])
          .orderBy('created_at_ms')
          .orderBy('number')
          .limit(limit)
          .execute(),
      );
      return rows.map((row) => ({ ...row }));
    },
    delete: ({ kind, number, tasks }) =>
      database.write(async (db) => {
        await db
          .deleteFrom('deferred_commands')
          .where('kind', '=', kind)
          .where('number', '=', number)
          .where('tasks', '=', tasks)
          .execute();
      }),
  };
}

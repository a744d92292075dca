// Stops and cancels that wait for Temporal.
import { createHash } from 'node:crypto';

import type { Database } from './database.ts';
import type { CommandStore, DeferredCommand } from './command-port.ts';

export function createCommandStore(database: Database): CommandStore {
  return {
    put: ({ kind, number, tasks, workspace, by, createdAtMs }) =>
      database.write(async (db) => {
        await db
          .insertInto('deferred_commands')
          .values({
            id: idOf({ kind, number, tasks }),
            kind,
            number,
            tasks,
            workspace,
            by_user: by,
            created_at_ms: createdAtMs,
          })
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
    delete: (command) =>
      database.write(async (db) => {
        await db.deleteFrom('deferred_commands').where('id', '=', idOf(command)).execute();
      }),
  };
}

const idOf = ({ kind, number, tasks }: Pick<DeferredCommand, 'kind' | 'number' | 'tasks'>): string =>
  createHash('sha256').update(`${kind}/${number}/${tasks}`).digest('hex');

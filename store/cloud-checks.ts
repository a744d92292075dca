// The latest findings of cloud checks.
import type { CloudCheckStore } from './cloud-check-port.ts';
import type { Database } from './database.ts';
import { storable } from './text.ts';

export const createCloudCheckStore = (database: Database): CloudCheckStore => ({
  list: async (provider) => {
    const query = (db: Parameters<Parameters<Database['read']>[0]>[0]) =>
      db.selectFrom('cloud_checks').selectAll().where('provider', '=', provider).orderBy('name').execute();
    const rows = await database.read(query);
    return rows.map(({ name, at_ms: atMs, state, text, fix }) => ({ name, atMs, state, text, fix }));
  },
  put: (provider, findings) =>
    database.write(async (db) => {
      for (const { name, atMs, state, text, fix } of findings) {
        await db
          .insertInto('cloud_checks')
          .values({ provider, name, at_ms: atMs, state, text: storable(text), fix: storable(fix) })
          .onConflict((conflict) =>
            conflict
              .columns(['provider', 'name'])
              .doUpdateSet((build) => ({
                at_ms: build.ref('excluded.at_ms'),
                state: build.ref('excluded.state'),
                text: build.ref('excluded.text'),
                fix: build.ref('excluded.fix'),
              }))
              .where('cloud_checks.at_ms', '<=', atMs),
          )
          .execute();
      }
    }),
});

// Named environments. Each change is recorded in the workspace's list of changes.
import { maxNamedEnvironments } from '../domain/software/limits.ts';
import type { Database } from './database.ts';
import type { EnvironmentStore, NamedEnvironment } from './environment-port.ts';
import { insertEvent, lockWorkspace } from './people-rows.ts';
import type { Db, EnvironmentTable } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

export function createEnvironmentStore(database: Database): EnvironmentStore {
  const { engine } = database;
  return {
    put: (workspace, { name, hash, contentRef, kind, summary, user }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, workspace)) === null) return { error: noWorkspace(workspace) };
        const known = await find(db, workspace, name);
        if (known?.hash === hash)
          return { ok: { environment: known, unused: contentRef === known.contentRef ? null : contentRef } };
        if (known === null && (await count(db, workspace)) >= maxNamedEnvironments) return { error: tooMany };
        const version = (known?.version ?? 0) + 1;
        const row = { hash, content_ref: contentRef, version, kind, summary, user_name: user, updated_at_ms: nowMs };
        if (known === null) {
          await db
            .insertInto('environments')
            .values({ ...row, workspace, name, created_at_ms: nowMs })
            .execute();
        } else {
          await db
            .updateTable('environments')
            .set(row)
            .where('workspace', '=', workspace)
            .where('name', '=', name)
            .execute();
        }
        const text = `The environment ${name} has version ${version}: ${summary}.`;
        await insertEvent(db, workspace, { atMs: nowMs, by: user, code: 'ENVIRONMENT_SET', text });
        const createdAtMs = known?.createdAtMs ?? nowMs;
        const environment = { name, hash, contentRef, version, kind, summary, user, createdAtMs, updatedAtMs: nowMs };
        return { ok: { environment, unused: known?.contentRef ?? null } };
      }),
    find: (workspace, name) => database.read((db) => find(db, workspace, name)),
    list: (workspace, { after, limit }) =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('environments')
          .selectAll()
          .where('workspace', '=', workspace)
          .$if(after !== null, (query) => query.where('name', '>', after ?? ''))
          .orderBy('name')
          .limit(limit)
          .execute();
        return rows.map(environmentOf);
      }),
    remove: (workspace, { name, user }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, workspace)) === null) return null;
        const known = await find(db, workspace, name);
        if (known === null) return null;
        await db.deleteFrom('environments').where('workspace', '=', workspace).where('name', '=', name).execute();
        const text = `The environment ${name} is deleted.`;
        await insertEvent(db, workspace, { atMs: nowMs, by: user, code: 'ENVIRONMENT_DELETED', text });
        return known;
      }),
  };
}

async function find(db: Db, workspace: string, name: string): Promise<NamedEnvironment | null> {
  const row = await db
    .selectFrom('environments')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('name', '=', name)
    .executeTakeFirst();
  return row === undefined ? null : environmentOf(row);
}

async function count(db: Db, workspace: string): Promise<number> {
  const row = await db
    .selectFrom('environments')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace', '=', workspace)
    .executeTakeFirst();
  return row?.count ?? 0;
}

const environmentOf = (row: EnvironmentTable): NamedEnvironment => ({
  name: row.name,
  hash: row.hash,
  contentRef: row.content_ref,
  version: row.version,
  kind: row.kind,
  summary: row.summary,
  user: row.user_name,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const tooMany = {
  code: 'LIMIT_EXCEEDED',
  message: `A workspace has at most ${maxNamedEnvironments} named environments.`,
  hint: 'Delete one that is not needed: ropewalk env delete NAME',
} as const;

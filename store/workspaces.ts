// Workspaces: creation with a first admin, limits, usage and the list of changes.
import type { Problem } from '../domain/errors.ts';
import { configure } from '../domain/people/configure.ts';
import { replaceDefaults } from '../domain/people/defaults.ts';
import { issueFirstToken } from '../domain/people/tokens.ts';
import { slugProblem } from '../domain/people/workspace.ts';
import { defaultLimits } from '../domain/quota/limits.ts';
import { randomId } from '../platform/ids.ts';
import type { Database } from './database.ts';
import {
  callerOf,
  countUsers,
  findToken,
  insertEvent,
  insertToken,
  insertUser,
  lockWorkspace,
  workspaceOf,
} from './people-rows.ts';
import { usageByUser, usageOf } from './quota-rows.ts';
import type { WorkspaceStore } from './store.ts';
import type { Db } from './tables.ts';

export function createWorkspaceStore(database: Database): WorkspaceStore {
  const { engine } = database;
  return {
    create: async ({ slug, admin, nowMs }) => {
      const refused = slugProblem(slug);
      if (refused !== null) return { error: refused };
      return database.write(async (db) => {
        await insertWorkspace(db, slug, nowMs);
        await lockWorkspace(db, engine, slug);
        const { users } = await countUsers(db, slug);
        const known = await findToken(db, slug, admin.token.id);
        const answer = issueFirstToken({ slug, known, users, newUserId: randomId('u') }, admin, nowMs);
        if ('error' in answer) return answer;
        const { issued, user, token, event } = answer.ok;
        if (user !== null) await insertUser(db, slug, user);
        if (token !== null) await insertToken(db, slug, token);
        if (event !== null) await insertEvent(db, slug, event);
        return { ok: issued };
      });
    },
    find: async (slug) => {
      const row = await database.read((db) =>
        db.selectFrom('workspaces').selectAll().where('slug', '=', slug).executeTakeFirst(),
      );
      return row === undefined ? null : workspaceOf(row);
    },
    list: async () => {
      const rows = await database.read((db) => db.selectFrom('workspaces').selectAll().execute());
      // Sorted here because PostgreSQL's order depends on the collation of the database.
      return rows.map(workspaceOf).toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
    },
    configure: (slug, { by, ...change }, nowMs) =>
      database.write(async (db) => {
        const workspace = await lockWorkspace(db, engine, slug);
        if (workspace === null) return { error: noWorkspace(slug) };
        const answer = configure({ ...workspace, caller: await callerOf(db, slug, by) }, change, nowMs);
        if ('error' in answer) return answer;
        const { limits, perUser, event } = answer.ok;
        await db
          .updateTable('workspaces')
          .set({ limits: JSON.stringify(limits), per_user: JSON.stringify(perUser) })
          .where('slug', '=', slug)
          .execute();
        await insertEvent(db, slug, event);
        return { ok: { ...workspace, limits, perUser } };
      }),
    setDefaults: (slug, { by, defaults: wanted }, nowMs) =>
      database.write(async (db) => {
        const workspace = await lockWorkspace(db, engine, slug);
        if (workspace === null) return { error: noWorkspace(slug) };
        const answer = replaceDefaults(await callerOf(db, slug, by), wanted, nowMs);
        if ('error' in answer) return answer;
        const { defaults, event } = answer.ok;
        await db
          .updateTable('workspaces')
          .set({ defaults: JSON.stringify(defaults) })
          .where('slug', '=', slug)
          .execute();
        await insertEvent(db, slug, event);
        return { ok: { ...workspace, defaults } };
      }),
    usage: (slug) =>
      database.read(async (db) => ({ total: await usageOf(db, slug), byUser: await usageByUser(db, slug) })),
    events: async (slug, limit) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('people_events')
          .select(['at_ms as atMs', 'by_user as by', 'code', 'text'])
          .where('workspace', '=', slug)
          .orderBy('id', 'desc')
          .limit(limit)
          .execute(),
      );
      return rows.map((row) => ({ ...row }));
    },
  };
}

/** Inserts it with a new workspace's limits; an existing one is unchanged. */
export async function insertWorkspace(db: Db, slug: string, nowMs: number): Promise<void> {
  await db
    .insertInto('workspaces')
    .values({ slug, created_at_ms: nowMs, limits: JSON.stringify(defaultLimits), per_user: '{}', defaults: '{}' })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export const noWorkspace = (slug: string): Problem => ({
  code: 'NOT_FOUND',
  message: `There is no workspace ${slug}.`,
});

// Users and their API tokens.
import { deleteEndedTokenAfterMs, endedTokenCountsForMs } from '../domain/people/limits.ts';
import { issueToken, revokeToken } from '../domain/people/tokens.ts';
import { putUser, removeUser } from '../domain/people/users.ts';
import { randomId } from '../platform/ids.ts';
import type { Database } from './database.ts';
import {
  callerOf,
  countUsers,
  deleteUser,
  findToken,
  findUser,
  insertEvent,
  insertToken,
  insertUser,
  lockWorkspace,
  tokenOf,
  userOf,
} from './people-rows.ts';
import type { PeopleStore } from './store.ts';
import type { Db } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

/** Maximum of ended tokens that one transaction deletes, to keep it short. */
const maxDeleted = 100;

export function createPeopleStore(database: Database): PeopleStore {
  const { engine } = database;
  return {
    ...readers(database),
    putUser: (slug, item, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, slug)) === null) return { error: noWorkspace(slug) };
        const known = await findUser(db, slug, item.name);
        const rows = { caller: await callerOf(db, slug, item.by), known, ...(await countUsers(db, slug)) };
        const answer = putUser({ ...rows, newUserId: randomId('u') }, item, nowMs);
        if ('error' in answer) return answer;
        const { user, event } = answer.ok;
        if (known === null) await insertUser(db, slug, user);
        else {
          const change = { role: user.role, limits: JSON.stringify(user.limits) };
          await db.updateTable('users').set(change).where('id', '=', user.id).execute();
        }
        await insertEvent(db, slug, event);
        return { ok: user };
      }),
    removeUser: (slug, { name, by }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, slug)) === null) return { error: noWorkspace(slug) };
        const rows = { caller: await callerOf(db, slug, by), known: await findUser(db, slug, name) };
        const answer = removeUser({ ...rows, ...(await countUsers(db, slug)) }, name, nowMs);
        if ('error' in answer) return answer;
        const { user, event } = answer.ok;
        await deleteUser(db, slug, user, nowMs);
        await db
          .updateTable('tokens')
          .set({ revoked_at_ms: nowMs })
          .where('workspace', '=', slug)
          .where('user_id', '=', user.id)
          .where('revoked_at_ms', 'is', null)
          .execute();
        await insertEvent(db, slug, event);
        return { ok: user };
      }),
    issueToken: (slug, item, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, slug)) === null) return { error: noWorkspace(slug) };
        const user = await findUser(db, slug, item.user);
        const caller = await callerOf(db, slug, item.by);
        const known = await findToken(db, slug, item.id);
        const counted = user === null ? 0 : await countTokens(db, slug, { userId: user.id, nowMs });
        const answer = issueToken({ caller, known, user, counted, newUserId: randomId('u') }, item, nowMs);
        if ('error' in answer) return answer;
        const { issued, token, user: added, event } = answer.ok;
        if (added !== null) await insertUser(db, slug, added);
        if (token !== null) await insertToken(db, slug, token);
        if (event !== null) await insertEvent(db, slug, event);
        await deleteEndedTokens(db, slug, nowMs);
        return { ok: issued };
      }),
    revokeToken: (slug, { id, by }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, slug)) === null) return { error: noWorkspace(slug) };
        const rows = { caller: await callerOf(db, slug, by), token: await findToken(db, slug, id) };
        const answer = revokeToken(rows, nowMs);
        if ('error' in answer) return answer;
        const { token, event } = answer.ok;
        if (event !== null) {
          const change = { revoked_at_ms: token.revokedAtMs };
          await db.updateTable('tokens').set(change).where('workspace', '=', slug).where('id', '=', id).execute();
          await insertEvent(db, slug, event);
        }
        return { ok: token };
      }),
  };
}

const readers = (database: Database): Pick<PeopleStore, 'listUsers' | 'listTokens' | 'findToken'> => ({
  listUsers: async (slug) => {
    const rows = await database.read((db) =>
      db.selectFrom('users').selectAll().where('workspace', '=', slug).execute(),
    );
    return rows.map(userOf).toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.name < b.name ? -1 : 1));
  },
  listTokens: async (slug, { user }) => {
    const rows = await database.read((db) =>
      db
        .selectFrom('tokens')
        .selectAll()
        .where('workspace', '=', slug)
        .$if(user !== undefined, (query) => query.where('user_name', '=', user ?? ''))
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .execute(),
    );
    return rows.map(tokenOf);
  },
  findToken: async (slug, id) => {
    const row = await database.read((db) =>
      db
        .selectFrom('tokens')
        .leftJoin('users', 'users.id', 'tokens.user_id')
        .selectAll('tokens')
        .select(['users.role as user_role', 'users.limits as user_limits', 'users.created_at_ms as user_created_at_ms'])
        .where('tokens.workspace', '=', slug)
        .where('tokens.id', '=', id)
        .executeTakeFirst(),
    );
    if (row === undefined) return null;
    const { user_role: role, user_limits: limits, user_created_at_ms: createdAtMs } = row;
    if (role === null || limits === null || createdAtMs === null) return { token: tokenOf(row), user: null };
    const user = { id: row.user_id, name: row.user_name, workspace: slug, role, limits, created_at_ms: createdAtMs };
    return { token: tokenOf(row), user: userOf(user) };
  },
});

/** The user's valid tokens, and those that ended recently enough to count. */
export async function countTokens(db: Db, slug: string, of: { userId: string; nowMs: number }): Promise<number> {
  const countsFromMs = of.nowMs - endedTokenCountsForMs;
  const row = await db
    .selectFrom('tokens')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace', '=', slug)
    .where('user_id', '=', of.userId)
    .where((build) => build.or([build('revoked_at_ms', 'is', null), build('revoked_at_ms', '>', countsFromMs)]))
    .where((build) => build.or([build('expires_at_ms', 'is', null), build('expires_at_ms', '>', countsFromMs)]))
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function deleteEndedTokens(db: Db, slug: string, nowMs: number): Promise<void> {
  const endedBeforeMs = nowMs - deleteEndedTokenAfterMs;
  await db
    .deleteFrom('tokens')
    .where('workspace', '=', slug)
    .where('id', 'in', (from) =>
      from
        .selectFrom('tokens')
        .select('id')
        .where('workspace', '=', slug)
        .where((build) =>
          build.or([build('revoked_at_ms', '<', endedBeforeMs), build('expires_at_ms', '<', endedBeforeMs)]),
        )
        .limit(maxDeleted),
    )
    .execute();
}

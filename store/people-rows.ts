// Rows of users and tokens, and their shared queries.
import type { WorkspaceDefaults } from '../domain/people/defaults.ts';
import type { Caller } from '../domain/people/authority.ts';
import type { By, PeopleEvent, Scope, Token, User } from '../domain/people/state.ts';
import type { WorkspaceLimits } from '../domain/quota/state.ts';
import type { Engine } from './database.ts';
import type { Workspace } from './store.ts';
import type { Db, TokenTable, UserTable, WorkspaceTable } from './tables.ts';
import { storable } from './text.ts';

/**
 * Locks the workspace: changes of users and limits, and admissions, of one workspace are serialized, on PostgreSQL by a lock of
 * its row, on SQLite by the transaction itself.
 */
export async function lockWorkspace(db: Db, engine: Engine, slug: string): Promise<Workspace | null> {
  const row = await db
    .selectFrom('workspaces')
    .selectAll()
    .where('slug', '=', slug)
    .$if(engine === 'postgres', (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  return row === undefined ? null : workspaceOf(row);
}

export const workspaceOf = (row: WorkspaceTable): Workspace => ({
  slug: row.slug,
  createdAtMs: row.created_at_ms,
  limits: JSON.parse(row.limits) as WorkspaceLimits,
  perUser: JSON.parse(row.per_user) as Partial<WorkspaceLimits>,
  defaults: JSON.parse(row.defaults) as WorkspaceDefaults,
});

export const userOf = (row: UserTable): User => ({
  id: row.id,
  name: row.name,
  role: row.role,
  limits: JSON.parse(row.limits) as Partial<WorkspaceLimits>,
  createdAtMs: row.created_at_ms,
});

export const tokenOf = (row: TokenTable): Token => ({
  id: row.id,
  secretHash: row.secret_hash,
  user: row.user_name,
  userId: row.user_id,
  scopes: JSON.parse(row.scopes) as Scope[],
  name: row.name,
  createdAtMs: row.created_at_ms,
  createdBy: row.created_by,
  expiresAtMs: row.expires_at_ms,
  revokedAtMs: row.revoked_at_ms,
});

export async function findUser(db: Db, slug: string, name: string): Promise<User | null> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('workspace', '=', slug)
    .where('name', '=', name)
    .executeTakeFirst();
  return row === undefined ? null : userOf(row);
}

export async function findToken(db: Db, slug: string, id: string): Promise<Token | null> {
  const row = await db
    .selectFrom('tokens')
    .selectAll()
    .where('workspace', '=', slug)
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : tokenOf(row);
}

/** The caller's rows as of this transaction. */
export async function callerOf(db: Db, slug: string, by: By): Promise<Caller> {
  if (by === null) return { slug, by, token: null, user: null };
  return { slug, by, token: await findToken(db, slug, by.tokenId), user: await findUser(db, slug, by.user) };
}

export async function countUsers(db: Db, slug: string): Promise<{ users: number; admins: number }> {
  const rows = await db
    .selectFrom('users')
    .select(({ fn }) => ['role', fn.countAll<number>().as('count')])
    .where('workspace', '=', slug)
    .groupBy('role')
    .execute();
  return {
    users: rows.reduce((sum, { count }) => sum + count, 0),
    admins: rows.find(({ role }) => role === 'admin')?.count ?? 0,
  };
}

export async function insertUser(db: Db, slug: string, { id, name, role, limits, createdAtMs }: User): Promise<void> {
  const row = { id, name, role, limits: JSON.stringify(limits), created_at_ms: createdAtMs };
  await db
    .insertInto('users')
    .values({ ...row, workspace: slug })
    .execute();
  await db.deleteFrom('removed_users').where('workspace', '=', slug).where('name', '=', name.toLowerCase()).execute();
}

/** Blocks sign-ins with the address until an admin adds it again. Only names that are addresses can sign in. */
export async function deleteUser(db: Db, slug: string, { id, name }: User, nowMs: number): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute();
  if (!name.includes('@')) return;
  await db
    .insertInto('removed_users')
    .values({ workspace: slug, name: name.toLowerCase(), removed_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['workspace', 'name']).doUpdateSet({ removed_at_ms: nowMs }))
    .execute();
}

export async function isRemovedUser(db: Db, slug: string, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('removed_users')
    .select('name')
    .where('workspace', '=', slug)
    .where('name', '=', name)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertToken(db: Db, slug: string, token: Token): Promise<void> {
  await db
    .insertInto('tokens')
    .values({
      workspace: slug,
      id: token.id,
      secret_hash: token.secretHash,
      user_name: token.user,
      user_id: token.userId,
      scopes: JSON.stringify(token.scopes),
      name: storable(token.name),
      created_at_ms: token.createdAtMs,
      created_by: token.createdBy,
      expires_at_ms: token.expiresAtMs,
      revoked_at_ms: token.revokedAtMs,
    })
    .execute();
}

export async function insertEvent(db: Db, slug: string, { atMs, by, code, text }: PeopleEvent): Promise<void> {
  await db.insertInto('people_events').values({ workspace: slug, at_ms: atMs, by_user: by, code, text }).execute();
}

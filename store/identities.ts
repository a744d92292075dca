// Accounts of the identity provider, and the users that they are tied to.
import { signIn, unknownPerson, type Account, type SignInContext } from '../domain/people/sign-in.ts';
import { randomId } from '../platform/ids.ts';
import type { Database } from './database.ts';
import type { IdentityStore, SignIn } from './identity-port.ts';
import { countTokens, deleteEndedTokens } from './people.ts';
import { countUsers, findUser, insertEvent, insertToken, insertUser, lockWorkspace, userOf } from './people-rows.ts';
import type { Db } from './tables.ts';

export const createIdentityStore = (database: Database): IdentityStore => ({
  signIn: (item, nowMs) =>
    database.write(async (db) => {
      const { account, token: given } = item;
      const slugs = item.workspace === null ? await findWorkspaces(db, item) : [item.workspace];
      const [slug] = slugs;
      if (slug === undefined) return { error: unknownPerson(account.email) };
      if (slugs.length > 1) return { ok: { choose: slugs } };
      // As for a workspace that the account does not belong to: names of others are not disclosed.
      if ((await lockWorkspace(db, database.engine, slug)) === null) return { error: unknownPerson(account.email) };
      const answer = signIn(await readContext(db, slug, item, nowMs), account, given, nowMs);
      if ('error' in answer) return answer;
      const { user, token, isNew, isNewlyTied, events } = answer.ok;
      if (isNew) await insertUser(db, slug, user);
      if (isNewlyTied) await tie(db, slug, { account, userId: user.id, nowMs });
      await insertToken(db, slug, token);
      for (const event of events) await insertEvent(db, slug, event);
      await deleteEndedTokens(db, slug, nowMs);
      const { id, scopes, expiresAtMs } = token;
      return { ok: { workspace: slug, issued: { id, user: user.name, scopes, expiresAtMs } } };
    }),
});

/** Where the account is a user, by an earlier sign-in or by its address; else where new people go, or where it was removed. */
async function findWorkspaces(db: Db, { account, newPeople }: SignIn): Promise<string[]> {
  const tied = await db
    .selectFrom('identities')
    .leftJoin('users', 'users.id', 'identities.user_id')
    .select(['identities.workspace', 'users.id as user_id'])
    .where('issuer', '=', account.issuer)
    .where('subject', '=', account.subject)
    .execute();
  const named =
    account.email === null
      ? []
      : await db.selectFrom('users').select('workspace').where('name', '=', account.email).execute();
  const users = [...tied.filter(({ user_id }) => user_id !== null), ...named].map(({ workspace }) => workspace);
  if (users.length > 0) return [...new Set(users)].toSorted();
  if (newPeople !== null) return [newPeople.workspace];
  return tied.slice(0, 1).map(({ workspace }) => workspace);
}

async function readContext(
  db: Db,
  slug: string,
  { account, newPeople }: SignIn,
  nowMs: number,
): Promise<SignInContext> {
  const identity = await db
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', account.issuer)
    .where('subject', '=', account.subject)
    .where('workspace', '=', slug)
    .executeTakeFirst();
  const row =
    identity === undefined
      ? undefined
      : await db.selectFrom('users').selectAll().where('id', '=', identity.user_id).executeTakeFirst();
  const tied = row === undefined ? null : userOf(row);
  const named = account.email === null ? null : await findUser(db, slug, account.email);
  const taken =
    named === null
      ? undefined
      : await db.selectFrom('identities').select('user_id').where('user_id', '=', named.id).executeTakeFirst();
  const user = tied ?? named;
  return {
    ...{ slug, isTied: identity !== undefined, tied, named, isNamedTaken: taken !== undefined, newPeople },
    users: (await countUsers(db, slug)).users,
    counted: user === null ? 0 : await countTokens(db, slug, { userId: user.id, nowMs }),
    newUserId: randomId('u'),
  };
}

/** An account whose user was removed belongs to the one who was added again. */
async function tie(
  db: Db,
  slug: string,
  { account, userId, nowMs }: { account: Account; userId: string; nowMs: number },
): Promise<void> {
  const tied = { user_id: userId, email: account.email, tied_at_ms: nowMs };
  await db
    .insertInto('identities')
    .values({ issuer: account.issuer, subject: account.subject, workspace: slug, ...tied })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject', 'workspace']).doUpdateSet(tied))
    .execute();
}

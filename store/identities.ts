// Accounts of the identity provider, and their users.
import { workspacesOf, type WorkspaceChoice } from '../domain/people/first-sign-in.ts';
import { signIn, unknownPerson, type Account, type SignInContext } from '../domain/people/sign-in.ts';
import { randomId } from '../platform/ids.ts';
import type { Database } from './database.ts';
import type { IdentityStore, SignIn } from './identity-port.ts';
import { countTokens, deleteEndedTokens } from './people.ts';
import {
  countUsers,
  findUser,
  insertEvent,
  insertToken,
  insertUser,
  isRemovedUser,
  lockWorkspace,
  userOf,
} from './people-rows.ts';
import type { Db } from './tables.ts';

export const createIdentityStore = (database: Database): IdentityStore => ({
  signIn: (item, nowMs) =>
    database.write(async (db) => {
      const { account, token: given } = item;
      const choices = item.workspace === null ? await findWorkspaces(db, item) : [];
      if (choices.length > 1) return { ok: { choose: choices } };
      const slug = item.workspace ?? choices[0]?.workspace;
      if (slug === undefined) return { error: unknownPerson(account.email) };
      // The same error as for a workspace without the account: workspace names are not disclosed.
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

async function findWorkspaces(db: Db, { account, newPeople }: SignIn): Promise<WorkspaceChoice[]> {
  const { issuer, subject, email } = account;
  const identities = await db
    .selectFrom('identities')
    .leftJoin('users', 'users.id', 'identities.user_id')
    .select(['identities.workspace', 'users.id as user_id'])
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .execute();
  const [named, gone] =
    email === null
      ? [[], []]
      : [
          await db.selectFrom('users').select('workspace').where('name', '=', email).execute(),
          await db.selectFrom('removed_users').select('workspace').where('name', '=', email).execute(),
        ];
  const ofTied = (isThere: boolean): { workspace: string }[] =>
    identities.filter(({ user_id }) => (user_id !== null) === isThere);
  return workspacesOf({
    tied: slugsOf(ofTied(true)),
    named: slugsOf(named),
    removed: slugsOf([...ofTied(false), ...gone]),
    newPeople,
    email,
  });
}

const slugsOf = (rows: readonly { workspace: string }[]): string[] => rows.map(({ workspace }) => workspace);

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
    isRemoved: account.email !== null && (await isRemovedUser(db, slug, account.email)),
    ...{ slug, isTied: identity !== undefined, tied, named, isNamedTaken: taken !== undefined, newPeople },
    users: (await countUsers(db, slug)).users,
    counted: user === null ? 0 : await countTokens(db, slug, { userId: user.id, nowMs }),
    newUserId: randomId('u'),
  };
}

/** An account whose user was removed is tied to the newly added user. */
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

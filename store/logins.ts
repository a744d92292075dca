// Sign-ins that wait for a decision.
import type { Scope } from '../domain/people/state.ts';
import type { Database } from './database.ts';
import type { DeviceLogin, LoginStore } from './store.ts';
import type { DeviceLoginTable } from './tables.ts';
import { storable } from './text.ts';

export function createLoginStore(database: Database): LoginStore {
  return {
    begin: (key, login, nowMs) =>
      database.write(async (db) => {
        await db.deleteFrom('device_logins').where('expires_at_ms', '<=', nowMs).execute();
        const inserted = await db
          .insertInto('device_logins')
          .values({
            key,
            client: storable(login.client),
            place: login.place,
            secret_hash: login.secretHash,
            expires_at_ms: login.expiresAtMs,
            ...columnsOf(login.decision),
          })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),
    find: async (key, nowMs) => {
      const row = await database.read((db) =>
        db
          .selectFrom('device_logins')
          .selectAll()
          .where('key', '=', key)
          .where('expires_at_ms', '>', nowMs)
          .executeTakeFirst(),
      );
      return row === undefined ? null : loginOf(row);
    },
    decide: (key, decision, nowMs) =>
      database.write(async (db) => {
        const decided = await db
          .updateTable('device_logins')
          .set(columnsOf(decision))
          .where('key', '=', key)
          .where('approved', 'is', null)
          .where('expires_at_ms', '>', nowMs)
          .executeTakeFirst();
        return decided.numUpdatedRows > 0n;
      }),
    deleteUndecided: (key) =>
      database.write(async (db) => {
        await db.deleteFrom('device_logins').where('key', '=', key).where('approved', 'is', null).execute();
      }),
    delete: (key) =>
      database.write(async (db) => {
        await db.deleteFrom('device_logins').where('key', '=', key).execute();
      }),
  };
}

type DecisionColumns = Pick<
  DeviceLoginTable,
  'approved' | 'workspace' | 'user_name' | 'token_id' | 'scopes' | 'token_expires_at_ms'
>;

const undecided: DecisionColumns = {
  approved: null,
  workspace: null,
  user_name: null,
  token_id: null,
  scopes: null,
  token_expires_at_ms: null,
};

function columnsOf(decision: DeviceLogin['decision']): DecisionColumns {
  if (decision === null) return undecided;
  if (!decision.approved) return { ...undecided, approved: 0 };
  const { workspace, user, tokenId, scopes, tokenExpiresAtMs } = decision;
  return {
    ...{ approved: 1, workspace, user_name: user, token_id: tokenId },
    ...{ scopes: scopes.join(','), token_expires_at_ms: tokenExpiresAtMs },
  };
}

function loginOf(row: DeviceLoginTable): DeviceLogin {
  const { client, place, secret_hash: secretHash, expires_at_ms: expiresAtMs } = row;
  return { client, place, secretHash, expiresAtMs, decision: decisionOf(row) };
}

function decisionOf(row: DeviceLoginTable): DeviceLogin['decision'] {
  const {
    approved,
    workspace,
    user_name: user,
    token_id: tokenId,
    scopes,
    token_expires_at_ms: tokenExpiresAtMs,
  } = row;
  if (approved === null) return null;
  const isWhole =
    workspace !== null && user !== null && tokenId !== null && scopes !== null && tokenExpiresAtMs !== null;
  if (!isWhole) return { approved: false };
  const known = scopes.split(',').filter((each): each is Scope => allScopes.some((scope) => scope === each));
  return { approved: true, workspace, user, tokenId, scopes: known, tokenExpiresAtMs };
}

const allScopes: readonly Scope[] = ['read', 'write', 'admin', 'operator'];

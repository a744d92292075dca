// Sign-ins that wait for a decision.
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

const undecided = { approved: null, workspace: null, user_name: null, token_id: null };

function columnsOf(
  decision: DeviceLogin['decision'],
): Pick<DeviceLoginTable, 'approved' | 'workspace' | 'user_name' | 'token_id'> {
  if (decision === null) return undecided;
  if (!decision.approved) return { ...undecided, approved: 0 };
  const { workspace, user, tokenId } = decision;
  return { approved: 1, workspace, user_name: user, token_id: tokenId };
}

function loginOf(row: DeviceLoginTable): DeviceLogin {
  const { client, secret_hash: secretHash, expires_at_ms: expiresAtMs } = row;
  return { client, secretHash, expiresAtMs, decision: decisionOf(row) };
}

function decisionOf({
  approved,
  workspace,
  user_name: user,
  token_id: tokenId,
}: DeviceLoginTable): DeviceLogin['decision'] {
  if (approved === null) return null;
  if (workspace === null || user === null || tokenId === null) return { approved: false };
  return { approved: true, workspace, user, tokenId };
}

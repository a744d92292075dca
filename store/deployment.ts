// The database's deployment, and the counter of numbers.
import { compareKeys, type KnownKeys, laterKeys } from '../domain/known-keys.ts';
import type { Database } from './database.ts';
import type { DeploymentStore } from './deployment-port.ts';
import type { Db } from './tables.ts';

export function createDeploymentStore(database: Database): DeploymentStore {
  return {
    claim: (deploymentId, nowMs) =>
      database.write(async (db) => {
        const claimed = await db
          .updateTable('deployment')
          .set({ deployment_id: deploymentId, created_at_ms: nowMs })
          .where('deployment_id', 'is', null)
          .executeTakeFirst();
        if (claimed.numUpdatedRows > 0n) return { deploymentId, isNew: true };
        const row = await db.selectFrom('deployment').select('deployment_id').executeTakeFirstOrThrow();
        return { deploymentId: row.deployment_id ?? deploymentId, isNew: false };
      }),
    read: async () => {
      const row = await database.read((db) => db.selectFrom('deployment').selectAll().executeTakeFirst());
      if (row === undefined || row.deployment_id === null || row.created_at_ms === null) return null;
      return {
        deploymentId: row.deployment_id,
        createdAtMs: row.created_at_ms,
        nextNumber: row.next_number,
        objectStoreId: row.object_store_id,
        temporalNamespace: row.temporal_namespace,
        // The id belongs to the name: an operator removes only the name.
        temporalNamespaceId: row.temporal_namespace === null ? null : row.temporal_namespace_id,
        keys: parseKeys(row.keys),
      };
    },
    claimObjectStore: (id) =>
      database.write(async (db) => {
        await db.updateTable('deployment').set({ object_store_id: id }).where('object_store_id', 'is', null).execute();
        const row = await db.selectFrom('deployment').select('object_store_id').executeTakeFirstOrThrow();
        return row.object_store_id ?? id;
      }),
    claimKeys: (own, marked = null) =>
      database.write(async (db) => {
        // An update first: on PostgreSQL it locks the row for the comparison.
        const row = await db
          .updateTable('deployment')
          .set((column) => ({ keys: column.ref('keys') }))
          .returning('keys')
          .executeTakeFirstOrThrow();
        const recorded = parseKeys(row.keys);
        const later = laterKeys(recorded, marked);
        const decision = compareKeys(later, own);
        const keys = decision.do === 'record' ? decision.keys : decision.do === 'keep' ? later : recorded;
        if (keys !== recorded) {
          await db
            .updateTable('deployment')
            .set({ keys: JSON.stringify(keys) })
            .execute();
        }
        return decision;
      }),
    claimTemporalNamespace: ({ name, id }) =>
      database.write(async (db) => {
        await db
          .updateTable('deployment')
          .set({ temporal_namespace: name, temporal_namespace_id: id })
          .where('temporal_namespace', 'is', null)
          .execute();
        const row = await db
          .selectFrom('deployment')
          .select(['temporal_namespace', 'temporal_namespace_id'])
          .executeTakeFirstOrThrow();
        return { name: row.temporal_namespace ?? name, id: row.temporal_namespace_id };
      }),
    forgetTemporalNamespace: ({ name, id }) =>
      database.write(async (db) => {
        const forgotten = await db
          .updateTable('deployment')
          .set({ temporal_namespace: null, temporal_namespace_id: null })
          .where('temporal_namespace', '=', name)
          .where('temporal_namespace_id', id === null ? 'is' : '=', id)
          .executeTakeFirst();
        if (forgotten.numUpdatedRows === 0n) return false;
        await db.updateTable('records').set({ missing_since_ms: 0 }).where('state', '=', 'open').execute();
        await db.updateTable('schedules').set({ synced_version: 0 }).execute();
        return true;
      }),
    reserveNumbersTo: (number) => database.write((db) => reserveNumbersTo(db, number)),
  };
}

/**
 * The first of `count` numbers. Called late in a transaction, because on PostgreSQL all admissions wait for the transaction
 * that has taken numbers.
 */
export async function takeNumbers(db: Db, count: number): Promise<number> {
  const row = await db
    .updateTable('deployment')
    .set((build) => ({ next_number: build('next_number', '+', count) }))
    .returning('next_number')
    .executeTakeFirstOrThrow();
  return row.next_number - count;
}

export async function reserveNumbersTo(db: Db, number: number): Promise<void> {
  await db
    .updateTable('deployment')
    .set({ next_number: number + 1 })
    .where('next_number', '<=', number)
    .execute();
}

/** Only `claimKeys` writes the text. */
const parseKeys = (text: string | null): KnownKeys | null => (text === null ? null : JSON.parse(text));

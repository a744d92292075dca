// The times of agents' last reports. Every replica of the API writes them in batches, and takes the silent agents.
import { sql } from 'kysely';

import { silentAfterMs as defaultSilentAfterMs } from '../domain/liveness/limits.ts';
import type { Database } from './database.ts';
import type { HeardAgent, LivenessStore } from './liveness-port.ts';
import type { Db } from './tables.ts';

/** Rows of one statement: six values each, and SQLite accepts 32,766. */
const rowsAtOnce = 500;
/** Older rows have no effect, even with clock steps. */
const replicaRowKeptMs = 24 * 3_600_000;
/** Batches are written every second, so a difference above this is a clock step, not a late batch. */
const maxBatchDelayMs = 60_000;

export function createLivenessStore(database: Database): LivenessStore {
  return {
    note: (items) =>
      database.write(async (db) => {
        // Sorted, because replicas' locks then rarely deadlock, which costs a repetition.
        const sorted = items.toSorted((a, b) => a.cluster - b.cluster || (a.instance < b.instance ? -1 : 1));
        for (let from = 0; from < sorted.length; from += rowsAtOnce)
          await upsert(db, sorted.slice(from, from + rowsAtOnce));
      }),
    read: async (cluster, instances) => {
      if (instances.length === 0) return [];
      const rows = await database.read((db) =>
        db
          .selectFrom('liveness')
          .selectAll()
          .where('cluster', '=', cluster)
          .where('instance', 'in', [...instances])
          .execute(),
      );
      return rows.map((row) => ({
        cluster: row.cluster,
        instance: row.instance,
        heardAtMs: row.heard_at_ms,
        sinceMs: row.since_ms,
        silentAfterMs: row.silent_after_ms,
      }));
    },
    takeSilent: async ({ nowMs, listeningMs, againAtMs, limit }) => {
      const due = (db: Db) =>
        db
          .selectFrom('liveness')
          .select(['cluster', 'instance', 'heard_at_ms as heardAtMs'])
          .where('due_at_ms', '<=', nowMs)
          // A monotonic clock has fractions, which PostgreSQL refuses for a bigint.
          .where('silent_after_ms', '<=', Math.floor(listeningMs))
          .orderBy('due_at_ms')
          .limit(limit);
      // Usually no agent is silent, and a read takes no lock.
      if ((await database.read((db) => due(db).execute())).length === 0) return [];
      return database.write(async (db) => {
        const query = database.engine === 'postgres' ? due(db).forUpdate().skipLocked() : due(db);
        const taken = (await query.execute()).map((row) => ({ ...row }));
        for (const { cluster, instance } of taken) {
          await db
            .updateTable('liveness')
            .set({ due_at_ms: againAtMs })
            .where('cluster', '=', cluster)
            .where('instance', '=', instance)
            .execute();
        }
        return taken;
      });
    },
    putOff: (items, untilMs) =>
      database.write(async (db) => {
        for (const { cluster, instance, heardAtMs } of items) {
          await db
            .updateTable('liveness')
            .set({ due_at_ms: untilMs })
            .where('cluster', '=', cluster)
            .where('instance', '=', instance)
            .where('heard_at_ms', '=', heardAtMs)
            .execute();
        }
      }),
    delete: async (cluster, instances) => {
      if (instances.length === 0) return;
      await database.write((db) =>
        db
          .deleteFrom('liveness')
          .where('cluster', '=', cluster)
          .where('instance', 'in', [...instances])
          .execute(),
      );
    },
    noteReplica: (replica, listeningMs) =>
      database.write(async (db) => {
        const nowMs = await database.nowMs(db);
        const row = { wrote_at_ms: nowMs, since_ms: nowMs - listeningMs };
        await db
          .insertInto('replica')
          .values({ replica, ...row })
          .onConflict((conflict) => conflict.column('replica').doUpdateSet(row))
          .execute();
        await db
          .deleteFrom('replica')
          .where('wrote_at_ms', '<', nowMs - replicaRowKeptMs)
          .execute();
      }),
    replicas: () =>
      database.read(async (db) => {
        const rows = await db.selectFrom('replica').selectAll().execute();
        // Read after the rows: a row written meanwhile must not look newer than now.
        const nowMs = await database.nowMs(db);
        return rows.map((row) => ({
          ...{ replica: row.replica, wroteAgoMs: nowMs - row.wrote_at_ms, sinceAgoMs: nowMs - row.since_ms },
        }));
      }),
    removeReplica: async (replica) => {
      await database.write((db) => db.deleteFrom('replica').where('replica', '=', replica).execute());
    },
  };
}

async function upsert(db: Db, items: readonly HeardAgent[]): Promise<void> {
  const known = items.filter(({ silentAfterMs }) => silentAfterMs !== null);
  const unknown = items.filter(({ silentAfterMs }) => silentAfterMs === null);
  if (known.length > 0) await write(db, known, 'excluded');
  if (unknown.length > 0) await write(db, unknown, 'liveness');
}

/** `period`: which silent period to keep when the row exists. */
async function write(db: Db, items: readonly HeardAgent[], period: 'excluded' | 'liveness'): Promise<void> {
  const silentAfter = sql<number>`${sql.table(period)}.silent_after_ms`;
  await db
    .insertInto('liveness')
    .values(
      items.map(({ cluster, instance, heardAtMs, sinceMs, silentAfterMs }) => {
        const afterMs = silentAfterMs ?? defaultSilentAfterMs;
        return {
          ...{ cluster, instance, heard_at_ms: heardAtMs, since_ms: sinceMs },
          ...{ silent_after_ms: afterMs, due_at_ms: heardAtMs + afterMs },
        };
      }),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['cluster', 'instance'])
        .doUpdateSet({
          heard_at_ms: sql<number>`excluded.heard_at_ms`,
          since_ms: sql<number>`excluded.since_ms`,
          silent_after_ms: silentAfter,
          due_at_ms: sql<number>`excluded.heard_at_ms + ${silentAfter}`,
        })
        // A row from the future was written before a clock was set back.
        .where(
          sql<boolean>`excluded.heard_at_ms >= liveness.heard_at_ms
            or excluded.heard_at_ms < liveness.heard_at_ms - ${sql.lit(maxBatchDelayMs)}`,
        ),
    )
    .execute();
}

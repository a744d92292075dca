// Admitted rows whose workflow is to be started: claimed by one process at a time, then open or refused.
import { sql } from 'kysely';

import type { Database } from './database.ts';
import { endWaits } from './queue-rows.ts';
import { releaseNumber } from './quota-rows.ts';
import { startableColumns, startableOf } from './record-rows.ts';
import type { RecordKind, Startable } from './store.ts';
import type { Db } from './tables.ts';

export interface ClaimQuery {
  limit: number;
  nowMs: number;
  claimUntilMs: number;
  number?: number;
}

export async function claim(database: Database, query: ClaimQuery): Promise<Startable[]> {
  // Usually there is nothing to claim: no lock is needed.
  const waiting = await database.read((db) => startable(db, { ...query, limit: 1 }).execute());
  if (waiting.length === 0) return [];
  return database.write(async (db) => {
    const rows = await startable(db, query)
      .$if(database.engine === 'postgres', (each) => each.forUpdate().skipLocked())
      .execute();
    if (rows.length === 0) return [];
    await db
      .updateTable('records')
      .set({ claimed_until_ms: query.claimUntilMs })
      .where('state', '=', 'admitted')
      .where(
        'number',
        'in',
        rows.map(({ number }) => number),
      )
      .execute();
    return rows.map(startableOf);
  });
}

const startable = (db: Db, { limit, nowMs, number }: ClaimQuery) =>
  db
    .selectFrom('records')
    .select(startableColumns)
    .where('state', '=', sql.lit('admitted'))
    .where((build) => build.or([build('claimed_until_ms', 'is', null), build('claimed_until_ms', '<=', nowMs)]))
    .$if(number !== undefined, (query) => query.where('number', '=', number ?? 0))
    .orderBy('number')
    .limit(limit);

export const started = (database: Database, kind: RecordKind, number: number): Promise<void> =>
  database.write(async (db) => {
    await db
      .updateTable('records')
      .set({ state: 'open', claimed_until_ms: null })
      .where('kind', '=', kind)
      .where('number', '=', number)
      .where('state', '=', 'admitted')
      .execute();
  });

export const refused = (
  database: Database,
  { kind, number, reason }: { kind: RecordKind; number: number; reason: { code: string; text: string } },
  nowMs: number,
): Promise<void> =>
  database.write(async (db) => {
    const { code, text } = reason;
    const ended = await db
      .updateTable('records')
      .set({ state: 'ended', status: 'error', ended_at_ms: nowMs, refusal: JSON.stringify({ code, text }) })
      .where('kind', '=', kind)
      .where('number', '=', number)
      .where('state', '=', 'admitted')
      .executeTakeFirst();
    if (ended.numUpdatedRows === 0n) return;
    await releaseNumber(db, number);
    if (kind === 'job') await endWaits(db, database.engine, { number, status: 'error' });
  });

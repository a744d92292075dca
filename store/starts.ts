// Admitted rows whose workflow must be started: claimed by one process at a time, then open or refused.
import { sql } from 'kysely';

import type { AdmissionStore, RecordKind, Startable } from './admission-port.ts';
import type { Database, Engine } from './database.ts';
import { notifyOfRow } from './notification-rows.ts';
import { endWaits } from './queue-rows.ts';
import { releaseNumber } from './quota-rows.ts';
import { startableColumns, startableOf } from './record-rows.ts';
import type { Db } from './tables.ts';

export interface ClaimQuery {
  limit: number;
  nowMs: number;
  claimUntilMs: number;
  number?: number;
  maxOpenOnHost?: number;
}

export async function claim(database: Database, query: ClaimQuery): Promise<Startable[]> {
  // Usually there is nothing to claim, and no lock is needed.
  const waiting = await database.read((db) => startable(db, { ...query, limit: 1 }, []).execute());
  if (waiting.length === 0) return [];
  return database.write(async (db) => {
    const room = await roomOfHosts(db, query);
    const full = [...room].filter(([, free]) => free <= 0).map(([host]) => host);
    const found = await startable(db, query, full)
      .$if(database.engine === 'postgres', (each) => each.forUpdate().skipLocked())
      .execute();
    const rows = found.filter(({ host_queue: host }) => takeRoom(room, host, query));
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

/** The number of additional rows for each host with claimed or open ones. */
async function roomOfHosts(db: Db, { nowMs, maxOpenOnHost = Infinity }: ClaimQuery): Promise<Map<string, number>> {
  if (maxOpenOnHost === Infinity) return new Map();
  const rows = await db
    .selectFrom('records')
    .select(({ fn }) => ['host_queue', fn.countAll<number>().as('open')])
    // For SQLite, which uses the index of open rows only if the query repeats the index's condition.
    .where('state', '<>', sql.lit('ended'))
    .where('host_queue', 'is not', null)
    .where((build) =>
      build.or([
        build('state', '=', sql.lit('open')),
        build.and([build('state', '=', sql.lit('admitted')), build('claimed_until_ms', '>', nowMs)]),
      ]),
    )
    .groupBy('host_queue')
    .execute();
  return new Map(rows.map(({ host_queue: host, open }) => [host ?? '', maxOpenOnHost - open]));
}

function takeRoom(room: Map<string, number>, host: string | null, { maxOpenOnHost = Infinity }: ClaimQuery): boolean {
  if (host === null) return true;
  const free = room.get(host) ?? maxOpenOnHost;
  room.set(host, free - 1);
  return free > 0;
}

const startable = (db: Db, { limit, nowMs, number }: ClaimQuery, fullHosts: readonly string[]) =>
  db
    .selectFrom('records')
    .select([...startableColumns, 'host_queue'])
    .$if(fullHosts.length > 0, (query) =>
      query.where((build) => build.or([build('host_queue', 'is', null), build('host_queue', 'not in', fullHosts)])),
    )
    .where('state', '=', sql.lit('admitted'))
    .where((build) => build.or([build('claimed_until_ms', 'is', null), build('claimed_until_ms', '<=', nowMs)]))
    .$if(number !== undefined, (query) => query.where('number', '=', number ?? 0))
    .orderBy('priority', 'desc')
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
    await endAdmitted(db, database.engine, { kind, number, status: 'error', reason, nowMs, unclaimedOnly: false });
  });

export const endUnclaimed = (
  database: Database,
  item: Parameters<AdmissionStore['endUnclaimed']>[0],
): Promise<boolean> => database.write((db) => endAdmitted(db, database.engine, { ...item, unclaimedOnly: true }));

interface EndAdmitted {
  kind: RecordKind;
  number: number;
  status: 'error' | 'cancelled' | 'stopped';
  reason: { code: string; text: string };
  nowMs: number;
  /** Only while no process has claimed its start. */
  unclaimedOnly: boolean;
}

/** False when it is no longer admitted. */
async function endAdmitted(db: Db, engine: Engine, end: EndAdmitted): Promise<boolean> {
  const { kind, number, status, nowMs, unclaimedOnly } = end;
  const { code, text } = end.reason;
  const ended = await db
    .updateTable('records')
    .set({ state: 'ended', status, ended_at_ms: nowMs, refusal: JSON.stringify({ code, text }) })
    .where('kind', '=', kind)
    .where('number', '=', number)
    .where('state', '=', 'admitted')
    .$if(unclaimedOnly, (query) => query.where('claimed_until_ms', 'is', null))
    .executeTakeFirst();
  if (ended.numUpdatedRows === 0n) return false;
  await releaseNumber(db, number);
  await notifyOfRow(db, kind, number, nowMs);
  if (kind === 'job') await endWaits(db, engine, { number, status });
  return true;
}

// PostgreSQL, for control planes on several hosts.
import { setTimeout as delay } from 'node:timers/promises';

import { Kysely, PostgresDialect, sql } from 'kysely';
import { Pool, types } from 'pg';

import { RopewalkError } from '../../domain/errors.ts';
import type { Database } from '../database.ts';
import type { Db, Tables } from '../tables.ts';
import { isConnectionLost, isRepeatable, isTimeout, postgresError } from './errors.ts';
import { createTurns } from './turns.ts';

/** Connections per process; PostgreSQL accepts 100 by default. */
const maxConnections = 10;
const connectTimeoutMs = 5_000;
/** Longer than the API's callers wait (10 s). */
const maxQueueMs = 15_000;
/** A query takes milliseconds. The server aborts first; the client does when the network has lost the answer. */
const queryTimeoutMs = 20_000;
const clientTimeoutMs = 25_000;
/** Locks are held for one short transaction; the lock of a process that stopped inside one is released after this time. */
const lockTimeoutMs = 10_000;
const idleTransactionTimeoutMs = 10_000;
/** Maximum repetitions of a transaction that PostgreSQL rolled back in favour of another one. */
const maxRepetitions = 10;

/** VALIDATION for an invalid URL; the first query connects. No error contains the password. */
export function openPostgres(url: string): Database {
  const pool = new Pool({
    connectionString: checked(url),
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: clientTimeoutMs,
    statement_timeout: queryTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    keepAlive: true,
    application_name: 'ropewalk',
    types: { getTypeParser },
  });
  // A lost connection also emits `error`; without a listener that ends the process. Its query rejects as well, and the pool
  // removes it.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const inTurn = createTurns({ turns: maxConnections, maxWaitMs: maxQueueMs });
  return {
    engine: 'postgres',
    read: (query) => inTurn(() => repeating(() => query(db), isConnectionLost)),
    write: (transaction) => inTurn(() => write(db, transaction)),
    nowMs: serverNowMs,
    close: () => db.destroy(),
  };
}

/** `now()` would return the start of the transaction. */
async function serverNowMs(db: Db): Promise<number> {
  const { rows } = await sql<{ ms: number }>`select floor(extract(epoch from clock_timestamp()) * 1000) as ms`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the server did not say its time');
  return row.ms;
}

async function write<T>(db: Db, transaction: (db: Db) => Promise<T>): Promise<T> {
  let isCommitting = false;
  const attempt = (): Promise<T> =>
    db
      .transaction()
      // Set explicitly, because the default of a server, a database or a role may be stricter: transactions that wait for a
      // workspace's lock must then see the changes of the transaction that had it.
      .setIsolationLevel('read committed')
      .execute(async (each) => {
        isCommitting = false;
        const answer = await transaction(each);
        isCommitting = true;
        return answer;
      });
  // When the connection was lost during the commit, the outcome is unknown: the caller must repeat the request.
  return repeating(attempt, (error) => !isCommitting && isConnectionLost(error));
}

/**
 * Repeats transactions on PostgreSQL's request, and those that a lost connection certainly rolled back. A server restart ends
 * every connection of the pool, and the pool may return them before it has noticed, so it repeats as often as there are
 * connections. A timeout is repeated once.
 */
async function repeating<T>(attempt: () => Promise<T>, isUndone: (error: unknown) => boolean): Promise<T> {
  let losses = 0;
  for (let repetition = 0; ; repetition += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (isUndone(error) && losses < maxConnections) losses += isTimeout(error) ? maxConnections : 1;
      else if (!isRepeatable(error) || repetition >= maxRepetitions) throw postgresError(error);
    }
    await delay(Math.random() * 2 ** Math.min(repetition, 7));
  }
}

function checked(url: string): string {
  const parsed = URL.parse(url);
  if (parsed !== null && /^postgres(ql)?:$/.test(parsed.protocol)) return url;
  // The error does not quote the URL, because it may contain a password.
  const message = 'ROPEWALK_DATABASE_URL is not a URL of PostgreSQL.';
  const hint =
    'Write postgresql://USER:PASSWORD@HOST:5432/DATABASE, with special characters of the password percent-encoded.';
  throw new RopewalkError({ code: 'VALIDATION', message, hint });
}

/** Returns counts, sums and times as numbers: all of them are below 2^53. By default `pg` returns bigint and numeric as text. */
const getTypeParser: typeof types.getTypeParser = (type: number, format?: 'text' | 'binary') =>
  type === types.builtins.INT8 || type === types.builtins.NUMERIC ? Number : types.getTypeParser(type, format);

// One SQLite connection as a Kysely driver. `node:sqlite` is synchronous: each query holds the event loop until it is done, so
// queries must stay short.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely';

import type { Tables } from '../tables.ts';
import { isBusy } from './errors.ts';

/** Opens the file. `readOnly`: a second connection, which reads while the first is inside a transaction. */
export function openConnection(file: string, { readOnly }: { readOnly: boolean }): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly, timeout: blockingTimeoutMs, enableForeignKeyConstraints: true });
  if (!readOnly) database.exec('pragma journal_mode = wal');
  // A committed transaction survives a power failure.
  database.exec('pragma synchronous = full');
  return database;
}

/** SQLite waits this long for a lock of another process. The event loop stands still meanwhile: the rest is waited for in JS. */
const blockingTimeoutMs = 10;
/** After this, the lock of the other process is an error: a transaction takes milliseconds. */
const lockTimeoutMs = 10_000;
const maxStatements = 200;

export const kyselyOf = (database: DatabaseSync): Kysely<Tables> =>
  new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => createDriver(database),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });

/** One user of the connection at a time, in the order of arrival: a transaction has it from begin to commit. */
function createDriver(database: DatabaseSync): Driver {
  const connection = createConnection(database);
  const waiting: (() => void)[] = [];
  let isTaken = false;
  return {
    init: async () => {},
    acquireConnection: async () => {
      if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve));
      isTaken = true;
      return connection;
    },
    releaseConnection: async () => {
      const next = waiting.shift();
      if (next === undefined) isTaken = false;
      else next();
    },
    beginTransaction: async () => withLockRetry(() => database.exec('begin immediate')),
    commitTransaction: async () => database.exec('commit'),
    // After some errors, such as a full disk, SQLite has rolled back by itself.
    rollbackTransaction: async () => (database.isTransaction ? database.exec('rollback') : undefined),
    destroy: async () => database.close(),
  };
}

function createConnection(database: DatabaseSync): DatabaseConnection {
  const statements = new Map<string, { statement: StatementSync; hasRows: boolean }>();
  const prepare = (sql: string): { statement: StatementSync; hasRows: boolean } => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    const prepared = { statement, hasRows: statement.columns().length > 0 };
    if (statements.size >= maxStatements) statements.clear();
    statements.set(sql, prepared);
    return prepared;
  };
  return {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const { statement, hasRows } = prepare(sql);
      const values = parameters as SQLInputValue[];
      if (hasRows) return { rows: statement.all(...values) as R[] };
      const { changes } = statement.run(...values);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    streamQuery: () => {
      throw new Error('Queries of the store are not streamed.');
    },
  };
}

/** Repeats while another process has the lock. */
export async function withLockRetry<T>(attempt: () => T | Promise<T>): Promise<T> {
  const startedAtMs = performance.now();
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAtMs > lockTimeoutMs) throw error;
    }
    await delay(pauseMs * (0.5 + Math.random()));
  }
}

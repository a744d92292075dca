// One SQLite connection as a Kysely driver. `node:sqlite` is synchronous: each query blocks the event loop until it is done, so
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

/** Opens the file. `readOnly`: a second connection, which reads while the first is in a transaction. */
export function openConnection(file: string, { readOnly }: { readOnly: boolean }): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly, timeout: blockingTimeoutMs, enableForeignKeyConstraints: true });
  if (!readOnly) database.exec('pragma journal_mode = wal');
  // A commit does not wait for the disk: writer.ts answers after the log has been synced, which does not block the event loop.
  database.exec('pragma synchronous = normal');
  return database;
}

/** SQLite's own wait for another process's lock, which blocks the event loop; longer waits happen in JS. */
const blockingTimeoutMs = 2;
/** A lock that another process holds for longer is an error: a transaction takes milliseconds. */
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

/** writer.ts begins and commits transactions. */
function createDriver(database: DatabaseSync): Driver {
  const connection = createConnection(database);
  const unsupported = async (): Promise<never> => Promise.reject(new Error('See store/sqlite/writer.ts.'));
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: unsupported,
    commitTransaction: unsupported,
    rollbackTransaction: unsupported,
    destroy: async () => {},
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

/** Retries while another process has the lock. */
export async function withLockRetry<T>(attempt: () => T | Promise<T>): Promise<T> {
  const startedAtMs = performance.now();
  // Short pauses: the other process has the lock for milliseconds, and may soon need it again.
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 4)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAtMs > lockTimeoutMs) throw error;
    }
    await delay(pauseMs * (0.5 + Math.random()));
  }
}

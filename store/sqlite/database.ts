// The embedded database: one file, shared by the processes of one host.
import { chmod, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import type { Database } from '../database.ts';
import { kyselyOf, openConnection, withLockRetry } from './connection.ts';
import { sqliteError } from './errors.ts';
import { createWriter } from './writer.ts';

/** Creates the file, readable by its owner only, when it does not exist. Its `-wal` and `-shm` files get the same mode. */
export async function openSqliteFile(file: string): Promise<Database> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
    await chmod(file, 0o600);
    const writer = await withLockRetry(() => openConnection(file, { readOnly: false }));
    const reader = await withLockRetry(() => openConnection(file, { readOnly: true }));
    return databaseOf(writer, reader);
  } catch (error) {
    throw sqliteError(error);
  }
}

/** For tests. An in-memory database has one connection: reads wait for transactions. */
export function openSqliteMemory(now: () => number = Date.now): Database {
  const connection = openConnection(':memory:', { readOnly: false });
  return databaseOf(connection, connection, now);
}

/** All processes on one file are on one host, and share its clock. */
function databaseOf(writing: DatabaseSync, reading: DatabaseSync, now: () => number = Date.now): Database {
  const { write, idle } = createWriter(writing, kyselyOf(writing));
  const reader = kyselyOf(reading);
  return {
    engine: 'sqlite',
    read: (query) => mapped(() => (writing === reading ? write(query) : withLockRetry(() => query(reader)))),
    write: (transaction) => mapped(() => write(transaction)),
    nowMs: async () => now(),
    close: async () => {
      await idle();
      for (const database of new Set([reading, writing])) database.close();
    },
  };
}

async function mapped<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw sqliteError(error);
  }
}

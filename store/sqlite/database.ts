// The embedded database: one file, which the processes of one host share.
import { chmod, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Database } from '../database.ts';
import type { Db } from '../tables.ts';
import { kyselyOf, openConnection, withLockRetry } from './connection.ts';
import { sqliteError } from './errors.ts';

/** Creates the file, readable by its owner only, when it does not exist. Its `-wal` and `-shm` files get the same mode. */
export async function openSqliteFile(file: string): Promise<Database> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
    await chmod(file, 0o600);
    const writer = await withLockRetry(() => openConnection(file, { readOnly: false }));
    const reader = await withLockRetry(() => openConnection(file, { readOnly: true }));
    return databaseOf(kyselyOf(writer), kyselyOf(reader));
  } catch (error) {
    throw sqliteError(error);
  }
}

/** For tests. A database in memory has one connection: reads wait for transactions. */
export function openSqliteMemory(): Database {
  const db = kyselyOf(openConnection(':memory:', { readOnly: false }));
  return databaseOf(db, db);
}

function databaseOf(writer: Db, reader: Db): Database {
  return {
    engine: 'sqlite',
    read: (query) => mapped(() => withLockRetry(() => query(reader))),
    write: (transaction) => mapped(() => writer.transaction().execute(transaction)),
    close: async () => {
      await reader.destroy();
      if (writer !== reader) await writer.destroy();
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

// The embedded database: one file, shared by the processes of one host.
import { chmod, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import type { Database } from '../database.ts';
import { kyselyOf, openConnection, withLockRetry } from './connection.ts';
import { sqliteError } from './errors.ts';
import { createLogSync, type LogSync, noLogSync } from './log-sync.ts';
import { createWriter } from './writer.ts';

/** Creates the file, readable by its owner only, when it does not exist. Its `-wal` and `-shm` files get the same mode. */
export async function openSqliteFile(file: string): Promise<Database> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
    await chmod(file, 0o600);
    const writer = await withLockRetry(() => openConnection(file, { readOnly: false }));
    const reader = await withLockRetry(() => openConnection(file, { readOnly: true }));
    // Its log exists from here on, because a connection that writes is open.
    return databaseOf({ writing: writer, reading: reader, log: await createLogSync(`${file}-wal`) });
  } catch (error) {
    throw sqliteError(error);
  }
}

/** For tests. An in-memory database has one connection: reads wait for transactions. */
export function openSqliteMemory(now: () => number = Date.now): Database {
  const connection = openConnection(':memory:', { readOnly: false });
  return databaseOf({ writing: connection, reading: connection, log: noLogSync, now });
}

interface Connections {
  writing: DatabaseSync;
  reading: DatabaseSync;
  log: LogSync;
  /** All processes on one file are on one host, and share its clock. */
  now?: () => number;
}

function databaseOf({ writing, reading, log, now = Date.now }: Connections): Database {
  const { write, idle } = createWriter(writing, kyselyOf(writing), log.sync);
  const reader = kyselyOf(reading);
  return {
    engine: 'sqlite',
    read: (query) => mapped(() => (writing === reading ? write(query) : withLockRetry(() => query(reader)))),
    write: (transaction) => mapped(() => write(transaction)),
    nowMs: async () => now(),
    close: async () => {
      await idle();
      await log.close();
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

// Transactions of one process, several per commit, because a commit and its sync cost more than a transaction. Each is a
// savepoint, so a failed one is rolled back alone. None is answered before its commit is on the disk; the next transactions run
// meanwhile.
import type { DatabaseSync } from 'node:sqlite';

import type { Db } from '../tables.ts';
import { withLockRetry } from './connection.ts';

/** No further transaction joins after this time, so that the event loop and other processes' writers get their turn. */
const maxBatchMs = 10;

interface Waiting {
  /** Runs the transaction; the returned function resolves its caller. */
  run: () => Promise<() => void>;
  reject: (error: unknown) => void;
}

export interface Writer {
  write: <T>(transaction: (db: Db) => Promise<T>) => Promise<T>;
  /** Resolves when no transaction waits, and all are on the disk. */
  idle: () => Promise<void>;
}

/** `sync` resolves when all commits before the call are on the disk. */
export function createWriter(database: DatabaseSync, db: Db, sync: () => Promise<void>): Writer {
  const waiting: Waiting[] = [];
  const answering = new Set<Promise<void>>();
  let running: Promise<void> | null = null;
  const answer = async (batch: Committed[]): Promise<void> => {
    try {
      await sync();
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      // Transactions from other events in the same turn of the event loop join this batch.
      await new Promise((resolve) => setImmediate(resolve));
      const answered = answer(await runBatch(database, waiting)).finally(() => answering.delete(answered));
      answering.add(answered);
    }
    running = null;
  };
  return {
    write: (transaction) =>
      new Promise((resolve, reject) => {
        const run = async (): Promise<() => void> => {
          const answer = await transaction(db);
          return () => resolve(answer);
        };
        waiting.push({ run, reject });
        running ??= runAll();
      }),
    idle: async () => {
      await running;
      await Promise.all(answering);
    },
  };
}

interface Committed {
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Never rejects: each failed caller gets its own error. The others are answered when the commit is on the disk. */
async function runBatch(database: DatabaseSync, waiting: Waiting[]): Promise<Committed[]> {
  const batch: Waiting[] = [];
  try {
    await withLockRetry(() => database.exec('begin immediate'));
    const committed: Committed[] = [];
    const startedAtMs = performance.now();
    for (let each = waiting.shift(); each !== undefined; each = nextOf(waiting, startedAtMs)) {
      batch.push(each);
      const resolve = await runOne(database, each);
      if (resolve !== null) committed.push({ resolve, reject: each.reject });
    }
    database.exec('commit');
    return committed;
  } catch (error) {
    if (database.isOpen && database.isTransaction) database.exec('rollback');
    // Without the lock none has begun: all waiting callers are refused, since each has waited long enough.
    for (const { reject } of batch.length === 0 ? waiting.splice(0) : batch) reject(error);
    return [];
  }
}

const nextOf = (waiting: Waiting[], startedAtMs: number): Waiting | undefined =>
  performance.now() - startedAtMs < maxBatchMs ? waiting.shift() : undefined;

/** Null for a failed transaction. Rejects when the failure has rolled back the whole batch, as a full disk does. */
async function runOne(database: DatabaseSync, { run, reject }: Waiting): Promise<(() => void) | null> {
  database.exec('savepoint one');
  try {
    const answer = await run();
    database.exec('release one');
    return answer;
  } catch (error) {
    if (!database.isTransaction) throw error;
    database.exec('rollback to one; release one');
    reject(error);
    return null;
  }
}

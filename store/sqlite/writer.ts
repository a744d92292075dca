// Transactions of one process, several per commit: a commit waits for the disk, and blocks the event loop meanwhile. Each
// transaction is a savepoint, so a failed one is rolled back alone. None is answered before the commit.
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
  /** Resolves when no transaction waits. */
  idle: () => Promise<void>;
}

export function createWriter(database: DatabaseSync, db: Db): Writer {
  const waiting: Waiting[] = [];
  let running: Promise<void> | null = null;
  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      // Transactions from other events in the same turn of the event loop join this batch.
      await new Promise((resolve) => setImmediate(resolve));
      await runBatch(database, waiting);
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
    },
  };
}

/** Never rejects: each caller gets its own result or error. */
async function runBatch(database: DatabaseSync, waiting: Waiting[]): Promise<void> {
  const batch: Waiting[] = [];
  try {
    await withLockRetry(() => database.exec('begin immediate'));
    const answers: (() => void)[] = [];
    const startedAtMs = performance.now();
    for (let each = waiting.shift(); each !== undefined; each = nextOf(waiting, startedAtMs)) {
      batch.push(each);
      const answer = await runOne(database, each);
      if (answer !== null) answers.push(answer);
    }
    database.exec('commit');
    for (const answer of answers) answer();
  } catch (error) {
    if (database.isOpen && database.isTransaction) database.exec('rollback');
    // Without the lock none has begun: all waiting callers are refused, since each has waited long enough.
    for (const { reject } of batch.length === 0 ? waiting.splice(0) : batch) reject(error);
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

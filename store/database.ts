// The interface of the queries: one of two database engines behind the same two functions.
import type { Db } from './tables.ts';

export type Engine = 'sqlite' | 'postgres';

export interface Database {
  engine: Engine;
  /** Outside a transaction: each query sees all earlier commits. */
  read: <T>(query: (db: Db) => Promise<T>) => Promise<T>;
  /**
   * One transaction, repeated when the database requires it: no effects except queries on the given `db`, and no nested `read`
   * or `write`.
   */
  write: <T>(transaction: (db: Db) => Promise<T>) => Promise<T>;
  /** The shared clock of all processes on this database: its server's, or that of its file's host. */
  nowMs: (db: Db) => Promise<number>;
  close: () => Promise<void>;
}

// What the queries use: one of two database engines behind the same two functions.
import type { Db } from './tables.ts';

export type Engine = 'sqlite' | 'postgres';

export interface Database {
  engine: Engine;
  /** Outside a transaction: each query sees what was committed before it. */
  read: <T>(query: (db: Db) => Promise<T>) => Promise<T>;
  /**
   * One transaction, which is repeated when the database asks for it: no effects but queries on the given `db`, and no `read`
   * or `write` inside.
   */
  write: <T>(transaction: (db: Db) => Promise<T>) => Promise<T>;
  /** The clock that all processes on this database share; of its server, or of the host that its file is on. */
  nowMs: (db: Db) => Promise<number>;
  close: () => Promise<void>;
}

// Makes commits durable without blocking the event loop. SQLite in WAL mode with `synchronous = normal` keeps the database
// consistent at any power failure, but loses the last commits, because it does not sync its log after each
// (https://www.sqlite.org/pragma.html#pragma_synchronous). Here a thread of Node's pool does that. A reader can see a commit
// some milliseconds before it is durable; its caller gets its answer afterwards.
import { open } from 'node:fs/promises';

import { RopewalkError } from '../../domain/errors.ts';

export interface LogSync {
  /** Resolves when all commits before the call are on the disk. After a failure every later call rejects with UNAVAILABLE too. */
  sync: () => Promise<void>;
  close: () => Promise<void>;
}

/** For a database in memory. */
export const noLogSync: LogSync = { sync: async () => {}, close: async () => {} };

/**
 * `file` is the log, which SQLite removes only when the last connection closes. SQLite takes its locks on other files, so that
 * closing this one releases none.
 */
export async function createLogSync(file: string): Promise<LogSync> {
  const handle = await open(file, 'r+');
  let failure: RopewalkError | null = null;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const syncOnce = async (): Promise<void> => {
    if (failure !== null) throw failure;
    try {
      await handle.datasync();
    } catch (error) {
      // The kernel reports a lost page once: a later sync would succeed although the page is missing.
      failure = syncError(error);
      throw failure;
    }
  };
  const begin = (): Promise<void> => {
    next = null;
    running = syncOnce().finally(() => (running = null));
    return running;
  };
  return {
    // A running sync may have begun before the caller's commit. All later callers share the one that follows it.
    sync: () => {
      if (running === null) return begin();
      return (next ??= running.then(begin, begin));
    },
    close: () => handle.close(),
  };
}

const syncError = (error: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: `The database cannot be used: its log could not be written to the disk (${String(error)}).`,
      hint: 'Check the disk and the file system, then start Ropewalk again.',
    },
    { cause: error },
  );

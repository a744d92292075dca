// Limits the concurrent callers to the number of connections; others wait in order of arrival. The queue of `pg` itself counts
// the wait for a connection as a connection failure.
import { RopewalkError } from '../../domain/errors.ts';

/** Runs `run` in its turn. UNAVAILABLE after `maxWaitMs` without one. */
export type TakeTurn = <T>(run: () => Promise<T>) => Promise<T>;

export function createTurns({ turns, maxWaitMs }: { turns: number; maxWaitMs: number }): TakeTurn {
  const waiting = new Set<() => void>();
  let free = turns;
  const turn = async (): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(go);
        reject(new RopewalkError({ code: 'UNAVAILABLE', message, hint }));
      }, maxWaitMs);
      const go = (): void => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(go);
    });
  };
  /** Passes the turn directly to the next caller: no other can take it in between. */
  const pass = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };
  return async (run) => {
    await turn();
    try {
      return await run();
    } finally {
      pass();
    }
  };
}

const message = 'The database is too busy: no connection became free in time.';
const hint = 'Try again; if it stays so, check the load of the PostgreSQL server.';

// Work on all tasks of a large job keeps the event loop busy for tens of milliseconds. Such requests take turns: one at a time in this process,
// alternating between the waiting callers, with breaks in which all other requests are served.
import { setImmediate as pause } from 'node:timers/promises';

import { RopewalkError } from '../domain/errors.ts';

export interface Turns {
  /** Throws TOO_BUSY when this caller has too many waiting requests. `tasks`: a small number needs no turn. */
  take<T>(caller: string, tasks: number, work: () => Promise<T>): Promise<T>;
}

export function createTurns({ maxWaiting = 8 }: { maxWaiting?: number } = {}): Turns {
  const waiting = new Map<string, (() => void)[]>();
  let isTaken = false;

  const pass = (): void => {
    const [first] = waiting;
    if (first === undefined) {
      isTaken = false;
      return;
    }
    const [caller, [begin, ...others]] = first;
    // Behind all other callers.
    waiting.delete(caller);
    if (others.length > 0) waiting.set(caller, others);
    begin?.();
  };

  return {
    async take(caller, tasks, work) {
      if (tasks <= tasksAtOnce) return work();
      if (isTaken) {
        const own = waiting.get(caller) ?? [];
        if (own.length >= maxWaiting) throw busy(own.length);
        const turn = Promise.withResolvers<void>();
        own.push(turn.resolve);
        waiting.set(caller, own);
        await turn.promise;
      }
      isTaken = true;
      try {
        return await work();
      } finally {
        pass();
      }
    },
  };
}

/** Takes some milliseconds. */
export const tasksAtOnce = 20_000;

/** Processes all indices below `count`, with a break between the parts. */
export async function inParts(count: number, each: (index: number) => void): Promise<void> {
  for (let from = 0; from < count; from += tasksAtOnce) {
    if (from > 0) await pause();
    const to = Math.min(count, from + tasksAtOnce);
    for (let index = from; index < to; index += 1) each(index);
  }
}

const busy = (waiting: number) =>
  new RopewalkError(
    {
      code: 'TOO_BUSY',
      message: `${waiting} requests of this caller wait already to read all tasks of large jobs.`,
      hint: 'Wait for the time in Retry-After.',
    },
    { retryAfterMs: 1_000 },
  );

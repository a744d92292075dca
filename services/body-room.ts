// How many bytes of large request bodies one API process takes at a time: each is held whole until it has been understood and
// stored. Who finds no room waits in line, unread, and is sent away when that takes too long. Nobody has more than a share of
// it, so that one caller who sends slowly cannot keep all others out.
import { RopewalkError } from '../domain/errors.ts';

export interface BodyRoomLimits {
  /** Of all bodies together. */
  totalBytes: number;
  /** Of the bodies of one caller together. */
  callerBytes: number;
  waitMs: number;
}

export interface BodyRoom {
  /** Resolves, in order of arrival, with a function that gives the room back, once; throws TOO_BUSY after `waitMs`. */
  enter(caller: string, bytes: number, signal?: AbortSignal): Promise<() => void>;
}

export function createBodyRoom({ totalBytes, callerBytes, waitMs }: BodyRoomLimits): BodyRoom {
  const held = new Map<string, number>();
  const line = new Set<Waiter>();
  let all = 0;
  // Whoever has nothing may always have one, however large it is: what one body may have is limited elsewhere.
  const hasItsShare = (caller: string, bytes: number): boolean => {
    const own = held.get(caller) ?? 0;
    return own > 0 && own + bytes > callerBytes;
  };
  const isFull = (bytes: number): boolean => all > 0 && all + bytes > totalBytes;
  const take = (caller: string, bytes: number): (() => void) => {
    all += bytes;
    held.set(caller, (held.get(caller) ?? 0) + bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      all -= bytes;
      const left = (held.get(caller) ?? 0) - bytes;
      if (left > 0) held.set(caller, left);
      else held.delete(caller);
      admit();
    };
  };
  const admit = (): void => {
    for (const { caller, bytes, enter } of line) {
      if (hasItsShare(caller, bytes)) continue;
      // A large one is not overtaken for ever by small ones.
      if (isFull(bytes)) return;
      enter(take(caller, bytes));
    }
  };
  return {
    async enter(caller, bytes, signal) {
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          line.delete(waiter);
        };
        const giveUp = (): void => {
          leave();
          reject(tooBusy());
          // Others may have waited only behind this one.
          admit();
        };
        const waiter: Waiter = {
          caller,
          bytes,
          enter: (giveBack) => {
            leave();
            resolve(giveBack);
          },
        };
        const timer = setTimeout(giveUp, waitMs);
        line.add(waiter);
        signal?.addEventListener('abort', giveUp);
        if (signal?.aborted === true) giveUp();
        else admit();
      });
    },
  };
}

interface Waiter {
  caller: string;
  bytes: number;
  enter: (giveBack: () => void) => void;
}

const tooBusy = (): RopewalkError =>
  new RopewalkError(
    {
      code: 'TOO_BUSY',
      message: 'Too many large requests are being received just now.',
      hint: 'Wait for the time in Retry-After. Nothing of this one was read.',
    },
    { retryAfterMs: 5_000 },
  );

// Limits the request bodies that one API process holds at a time: each is held whole until it is parsed and stored. A request without room waits,
// unread, and is refused after a timeout. Each caller, and all callers of a workspace together, have a share, so a slow or greedy caller cannot block
// others.
import { RopewalkError } from '../domain/errors.ts';
import type { QuotaCaller } from './quotas.ts';

export interface BodyMemoryLimits {
  /** Limit of all bodies together. */
  totalBytes: number;
  /** Limit of one workspace's bodies together. */
  workspaceBytes: number;
  /** Limit of one caller's bodies together. */
  callerBytes: number;
  /** Maximum number of waiting requests of one workspace. */
  maxWaiting: number;
  waitMs: number;
}

export interface BodyMemory {
  /** Resolves, in order of arrival, with a function that releases the memory, once; throws TOO_BUSY after `waitMs`. */
  enter(who: QuotaCaller, bytes: number, signal?: AbortSignal): Promise<() => void>;
}

export function createBodyMemory(limits: BodyMemoryLimits): BodyMemory {
  const { totalBytes, workspaceBytes, callerBytes, maxWaiting, waitMs } = limits;
  const held = new Map<string, number>();
  const line = new Set<Waiter>();
  let all = 0;
  const sharesOf = ({ workspace, id }: QuotaCaller) => [
    { key: `workspace/${workspace}`, maxBytes: workspaceBytes },
    { key: `caller/${id}`, maxBytes: callerBytes },
  ];
  // A caller without any body may have one of any size, because other limits apply to single bodies.
  const hasItsShare = (who: QuotaCaller, bytes: number): boolean =>
    sharesOf(who).some(({ key, maxBytes }) => {
      const own = held.get(key) ?? 0;
      return own > 0 && own + bytes > maxBytes;
    });
  const isFull = (bytes: number): boolean => all > 0 && all + bytes > totalBytes;
  const change = (who: QuotaCaller, bytes: number): void => {
    all += bytes;
    for (const { key } of sharesOf(who)) {
      const now = (held.get(key) ?? 0) + bytes;
      if (now > 0) held.set(key, now);
      else held.delete(key);
    }
  };
  const take = (who: QuotaCaller, bytes: number): (() => void) => {
    change(who, bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      change(who, -bytes);
      admit();
    };
  };
  const admit = (): void => {
    for (const { who, bytes, enter } of line) {
      if (hasItsShare(who, bytes)) continue;
      // Small bodies must not overtake a large one forever.
      if (isFull(bytes)) return;
      enter(take(who, bytes));
    }
  };
  const waitingOf = (workspace: string | null): number => {
    let count = 0;
    for (const { who } of line) if (who.workspace === workspace) count += 1;
    return count;
  };
  return {
    async enter(who, bytes, signal) {
      if (line.size >= maxWaiting && waitingOf(who.workspace) >= maxWaiting) throw tooBusy();
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
          who,
          bytes,
          enter: (release) => {
            leave();
            resolve(release);
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
  who: QuotaCaller;
  bytes: number;
  enter: (release: () => void) => void;
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

// Keeps Ropewalk's calls below EC2's request rates, so that users' own calls in the account are not throttled. One bucket per
// group of calls for each (account, region). Sizes and rates: EC2's API throttling page, as of 2026-08.
import { setTimeout as sleep } from 'node:timers/promises';

export type CallGroup = 'read' | 'change' | 'run' | 'terminate';

interface Bucket {
  size: number;
  perSecond: number;
}

const buckets: Record<CallGroup, Bucket> = {
  read: { size: 100, perSecond: 20 },
  change: { size: 50, perSecond: 5 },
  run: { size: 5, perSecond: 2 },
  terminate: { size: 100, perSecond: 5 },
};

/** Ropewalk's share of each bucket; the rest is for the user's own calls. */
const ourShare = 0.8;

export interface Limiter {
  /** Waits for its turn, in order, then calls. */
  run<T>(group: CallGroup, call: () => Promise<T>): Promise<T>;
}

/** `now` returns milliseconds of any monotonic clock. */
export function createLimiter(
  now: () => number = () => performance.now(),
  wait: (ms: number) => Promise<unknown> = sleep,
): Limiter {
  const levels = new Map<CallGroup, { tokens: number; atMs: number; turn: Promise<unknown> }>();
  const take = async (group: CallGroup): Promise<void> => {
    const { size, perSecond } = buckets[group];
    const max = Math.max(1, Math.floor(size * ourShare));
    const level = levels.get(group) ?? { tokens: max, atMs: now(), turn: Promise.resolve() };
    levels.set(group, level);
    const refill = (): void => {
      const nowMs = now();
      level.tokens = Math.min(max, level.tokens + ((nowMs - level.atMs) / 1000) * perSecond * ourShare);
      level.atMs = nowMs;
    };
    refill();
    while (level.tokens < 1) {
      await wait(((1 - level.tokens) / (perSecond * ourShare)) * 1000);
      refill();
    }
    level.tokens -= 1;
  };
  return {
    async run(group, call) {
      const before = levels.get(group)?.turn ?? Promise.resolve();
      const turn = before.then(() => take(group));
      const level = levels.get(group);
      if (level !== undefined) level.turn = turn;
      await turn;
      return call();
    },
  };
}

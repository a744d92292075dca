// Agents that wait for news of their cluster, however many, share one look at it. What passes through this replica wakes
// them at once; what passes through another one is found by looking now and then, less often the longer nothing happens.
// Nobody is held for longer than `holdMs`, and a cluster for which nobody waits costs nothing.
import type { Orders } from '../contracts/cluster.ts';

export interface ClusterKey {
  workspace: string;
  cluster: number;
}

export interface OrderWatch {
  /** Orders newer than `seen`, or a stop; after `holdMs`, or when the signal aborts, those there are. */
  wait(key: ClusterKey, seen: number, signal: AbortSignal): Promise<Orders>;
  /** A workflow has just answered with these. */
  heard(key: ClusterKey, orders: Orders): void;
  /** Something was changed: look now. */
  wake(key: ClusterKey): void;
}

export interface OrderWatchOptions {
  /** What was read at most this long ago is good enough; 0 reads anew. Rejects when nothing is known. */
  read: (key: ClusterKey, maxAgeMs: number) => Promise<Orders>;
  holdMs: number;
}

export function createOrderWatch({ read, holdMs }: OrderWatchOptions): OrderWatch {
  const watches = new Map<string, Watch>();

  const watchOf = (key: ClusterKey): Watch => {
    const id = idOf(key);
    const known = watches.get(id);
    if (known !== undefined) return known;
    const fresh: Watch = { key, waiters: new Set(), newest: null, timer: null, delayMs: firstLookMs };
    watches.set(id, fresh);
    return fresh;
  };

  const look = async (watch: Watch, maxAgeMs: number): Promise<void> => {
    try {
      tell(watch, await read(watch.key, maxAgeMs));
    } catch (error) {
      for (const { reject } of watch.waiters) reject(error);
    }
  };

  const schedule = (watch: Watch): void => {
    watch.timer ??= setTimeout(() => {
      watch.timer = null;
      watch.delayMs = Math.min(lastLookMs, watch.delayMs * lookGrowth);
      void look(watch, freshForMs).then(() => {
        if (watch.waiters.size > 0) schedule(watch);
      });
    }, watch.delayMs);
  };

  const leave = (watch: Watch, waiter: Waiter): void => {
    watch.waiters.delete(waiter);
    if (watch.waiters.size > 0) return;
    if (watch.timer !== null) clearTimeout(watch.timer);
    watch.timer = null;
    watches.delete(idOf(watch.key));
  };

  return {
    async wait(key, seen, signal) {
      const watch = watchOf(key);
      const { promise, resolve, reject } = Promise.withResolvers<Orders | null>();
      const waiter: Waiter = { isNews: (orders) => isNews(orders, seen), resolve, reject };
      watch.waiters.add(waiter);
      const giveUp = (): void => resolve(null);
      const timer = setTimeout(giveUp, holdMs);
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp);
      try {
        if (watch.newest === null) void look(watch, freshForMs);
        else tell(watch, watch.newest);
        schedule(watch);
        return (await promise) ?? watch.newest ?? (await read(key, lastLookMs));
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        leave(watch, waiter);
      }
    },
    heard(key, orders) {
      const watch = watches.get(idOf(key));
      if (watch !== undefined) tell(watch, orders);
    },
    wake(key) {
      const watch = watches.get(idOf(key));
      if (watch === undefined) return;
      watch.delayMs = firstLookMs;
      if (watch.timer !== null) clearTimeout(watch.timer);
      watch.timer = null;
      schedule(watch);
      void look(watch, 0);
    },
  };
}

interface Watch {
  key: ClusterKey;
  waiters: Set<Waiter>;
  newest: Orders | null;
  timer: NodeJS.Timeout | null;
  delayMs: number;
}

interface Waiter {
  isNews: (orders: Orders) => boolean;
  /** null: it has waited long enough. */
  resolve: (orders: Orders | null) => void;
  reject: (error: unknown) => void;
}

/** Views are cached this long anyway. A timer may fire a little early. */
const freshForMs = 900;
const firstLookMs = 1_000;
const lastLookMs = 5_000;
const lookGrowth = 1.5;

const idOf = ({ workspace, cluster }: ClusterKey): string => `${workspace}/${cluster}`;

const isNews = (orders: Orders, seen: number): boolean => orders.stop !== null || orders.version > seen;

/** A look may be older than what was heard meanwhile: versions only grow, and a stop is the last word. */
function tell(watch: Watch, orders: Orders): void {
  const { newest } = watch;
  const isOlder = newest !== null && orders.stop === null && (newest.stop !== null || newest.version > orders.version);
  if (!isOlder) watch.newest = orders;
  const best = isOlder ? newest : orders;
  for (const waiter of watch.waiters) if (waiter.isNews(best)) waiter.resolve(best);
}

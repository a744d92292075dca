// All agents that wait for orders of their cluster share one watch. A change through this replica wakes them at once. Changes through other replicas,
// and the workflow's own decisions, are read from the database: one read a second for all watched clusters. A watch outlives its waiters for a while,
// because an idle agent returns at once.
import type { Orders } from '../contracts/cluster.ts';

export interface ClusterKey {
  workspace: string;
  cluster: number;
}

export interface OrderWatch {
  /** Resolves with orders newer than `seen`, or a stop; after `holdMs`, or when the signal aborts, with the present ones. */
  wait(key: ClusterKey, seen: number, signal: AbortSignal): Promise<Orders>;
  /** A workflow has just returned these orders. */
  heard(key: ClusterKey, orders: Orders): void;
  /** Something was changed: asks the workflow now, and several times later. */
  wake(key: ClusterKey): void;
  /** Reads the changes in the database. Must be called every second. Rejects, after reading all others, when a row could not be read. */
  round(): Promise<void>;
  /** Number of watched clusters. */
  size(): number;
}

export interface OrderWatchOptions {
  /** Asks the workflow, or returns an answer that is at most `maxAgeMs` old; 0 always asks. Rejects when no answer is known. */
  read: (key: ClusterKey, maxAgeMs: number) => Promise<Orders>;
  /** The orders in the database; null while there are none. */
  readRow: (key: ClusterKey) => Promise<Orders | null>;
  /** Versions of the rows, without clusters that have no row. */
  versions: (clusters: number[]) => Promise<{ number: number; version: number; ended: boolean }[]>;
  holdMs: number;
  monotonicMs: () => number;
}

export function createOrderWatch({ read, readRow, versions, holdMs, monotonicMs }: OrderWatchOptions): OrderWatch {
  const watches = new Map<string, Watch>();

  const watchOf = (key: ClusterKey): Watch => {
    const id = idOf(key);
    const known = watches.get(id);
    if (known !== undefined) return known;
    const fresh: Watch = { key, waiters: new Set(), newest: null, row: '', timer: null, usedAtMs: monotonicMs() };
    watches.set(id, fresh);
    return fresh;
  };

  const look = async (watch: Watch, maxAgeMs: number): Promise<void> => {
    try {
      notify(watch, await read(watch.key, maxAgeMs));
    } catch (error) {
      for (const { reject } of watch.waiters) reject(error);
    }
  };

  /** After a requested change, the workflow needs a moment to decide. */
  const lookLater = (watch: Watch, delayMs: number): void => {
    if (watch.timer !== null) clearTimeout(watch.timer);
    watch.timer = null;
    if (delayMs > lastLookMs || watch.waiters.size === 0) return;
    watch.timer = setTimeout(() => {
      watch.timer = null;
      void look(watch, freshForMs).then(() => lookLater(watch, delayMs * lookGrowth));
    }, delayMs);
  };

  const leave = (watch: Watch, waiter: Waiter): void => {
    watch.waiters.delete(waiter);
    watch.usedAtMs = monotonicMs();
    if (watch.waiters.size > 0 || watch.timer === null) return;
    clearTimeout(watch.timer);
    watch.timer = null;
  };

  return {
    async wait(key, seen, signal) {
      const watch = watchOf(key);
      const { promise, resolve, reject } = Promise.withResolvers<Orders | null>();
      const waiter: Waiter = { isNewer: (orders) => isNewer(orders, seen), resolve, reject };
      watch.waiters.add(waiter);
      const giveUp = (): void => resolve(null);
      const timer = setTimeout(giveUp, holdMs);
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp);
      try {
        if (watch.newest !== null) notify(watch, watch.newest);
        // An agent that already has orders can wait for the next round, because after a restart of the API all agents return at once.
        else if (seen <= 0) void look(watch, freshForMs);
        return (await promise) ?? watch.newest ?? (await read(key, lastLookMs));
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        leave(watch, waiter);
      }
    },
    heard(key, orders) {
      const watch = watches.get(idOf(key));
      if (watch !== undefined) notify(watch, orders);
    },
    wake(key) {
      const watch = watches.get(idOf(key));
      if (watch === undefined || watch.waiters.size === 0) return;
      void look(watch, 0);
      lookLater(watch, firstLookMs);
    },
    async round() {
      const nowMs = monotonicMs();
      for (const [id, { waiters, usedAtMs }] of watches) {
        if (waiters.size === 0 && nowMs - usedAtMs > keptMs) watches.delete(id);
      }
      if (watches.size === 0) return;
      const rows = await versions([...new Set([...watches.values()].map(({ key }) => key.cluster))]);
      const failures: unknown[] = [];
      const rowOf = new Map(rows.map(({ number, version, ended }) => [number, `${version} ${ended}`]));
      for (const watch of watches.values()) {
        const row = rowOf.get(watch.key.cluster);
        if (row === undefined || row === watch.row) continue;
        try {
          const orders = await readRow(watch.key);
          watch.row = row;
          if (orders !== null) notify(watch, orders);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
    size: () => watches.size,
  };
}

interface Watch {
  key: ClusterKey;
  waiters: Set<Waiter>;
  newest: Orders | null;
  /** Version of the last read row, and whether it had ended. */
  row: string;
  timer: NodeJS.Timeout | null;
  usedAtMs: number;
}

interface Waiter {
  isNewer: (orders: Orders) => boolean;
  /** Null: it has waited long enough. */
  resolve: (orders: Orders | null) => void;
  reject: (error: unknown) => void;
}

/** Views are cached this long anyway. A timer may fire slightly early. */
const freshForMs = 900;
const firstLookMs = 1_000;
const lastLookMs = 5_000;
const lookGrowth = 1.5;
/** Longer than an agent's pause between two polls. */
const keptMs = 60_000;

const idOf = ({ workspace, cluster }: ClusterKey): string => `${workspace}/${cluster}`;

const isNewer = (orders: Orders, seen: number): boolean => orders.stop !== null || orders.version > seen;

/** A read may be older than orders that arrived meanwhile: versions only grow, and a stop is final. */
function notify(watch: Watch, orders: Orders): void {
  const { newest } = watch;
  const isOlder = newest !== null && orders.stop === null && (newest.stop !== null || newest.version > orders.version);
  if (!isOlder) watch.newest = orders;
  const best = isOlder ? newest : orders;
  for (const waiter of watch.waiters) if (waiter.isNewer(best)) waiter.resolve(best);
}

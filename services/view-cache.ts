// A small read-through cache: one load at a time per key, bounded in size, and when the source is away the last value is
// given with its age instead of an error. It never answers for a source that says "there is none".
import { RopewalkError } from '../domain/errors.ts';

export interface Cached<T> {
  value: T;
  /** When the value was read from its source. */
  readAtMs: number;
  /** The source is away: the value is what it said then. */
  isStale: boolean;
}

export interface ViewCache<T> {
  /** A value read at most `maxAgeMs` ago, or the last one when the source is away and has given one. */
  get(key: string, maxAgeMs: number): Promise<Cached<T>>;
  /** What is at hand, however old; asks nobody. */
  peek(key: string): T | undefined;
  /** The next get reads again. What is known stays at hand for an outage. */
  expire(key: string): void;
}

export type ReadSource = 'cache' | 'source' | 'stale' | 'failed';

export function createViewCache<T>(options: {
  load: (key: string) => Promise<T>;
  now: () => number;
  maxEntries: number;
  /** What an earlier process knew, for when the source is away and this one has never heard of it. */
  recall?: (key: string) => Promise<{ value: T; readAtMs: number } | null>;
  /** Told how each get was answered. */
  onRead?: (source: ReadSource) => void;
}): ViewCache<T> {
  const entries = new Map<string, Cached<T>>();
  const loading = new Map<string, { began: number; answer: Promise<Cached<T>> }>();
  const failing = new Set<string>();
  // What happened after what, whatever the clock says: a load makes good only what was expired before it began.
  let step = 0;
  const expired = new Map<string, number>();
  const following = new Map<string, Promise<Cached<T>>>();

  const remember = (key: string, entry: Cached<T>): Cached<T> => {
    // Re-inserting keeps the map in order of use, so that the first key is the one to forget.
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > options.maxEntries && oldest !== undefined) {
      entries.delete(oldest);
      failing.delete(oldest);
      expired.delete(oldest);
    }
    return entry;
  };

  const recall = async (key: string): Promise<Cached<T> | null> => {
    const recalled = (await options.recall?.(key)) ?? null;
    return recalled === null ? null : remember(key, { ...recalled, isStale: true });
  };

  const load = async (key: string, began: number): Promise<Cached<T>> => {
    const startedAtMs = options.now();
    try {
      const value = await options.load(key);
      failing.delete(key);
      if (!isExpiredSince(key, began)) expired.delete(key);
      return remember(key, { value, readAtMs: startedAtMs, isStale: false });
    } catch (error) {
      const isAway = error instanceof RopewalkError && error.problem.code === 'UNAVAILABLE';
      if (!isAway) throw error;
      const last = entries.get(key) ?? (await recall(key));
      if (last === null) throw error;
      failing.add(key);
      return { ...last, isStale: true };
    } finally {
      loading.delete(key);
      // With nothing at hand the next get reads anyway.
      if (!entries.has(key)) expired.delete(key);
    }
  };

  const isExpiredSince = (key: string, began: number): boolean => (expired.get(key) ?? 0) > began;

  const begin = (key: string): Promise<Cached<T>> => {
    const current = loading.get(key);
    if (current !== undefined) return current.answer;
    const began = (step += 1);
    const answer = load(key, began);
    loading.set(key, { began, answer });
    return answer;
  };

  const seen = (source: ReadSource): void => options.onRead?.(source);
  /** What was read lately enough is not asked for here. */
  const read = async (key: string, maxAgeMs: number): Promise<Cached<T>> => {
    const known = entries.get(key);
    // Once a read has failed, nobody waits for the next one for long: it goes on in the background, and the first that
    // succeeds ends the outage.
    if (known !== undefined && failing.has(key)) return Promise.race([begin(key), staleSoon(known)]);
    const current = loading.get(key);
    if (current === undefined) return begin(key);
    if (maxAgeMs > 0 && !isExpiredSince(key, current.began)) return current.answer;
    // A load that began before this call may have missed what the caller has just written: all such callers share
    // the next one, so that the source still sees one read at a time.
    const next = following.get(key) ?? after(current.answer).then(() => (following.delete(key), begin(key)));
    following.set(key, next);
    return next;
  };

  return {
    async get(key, maxAgeMs) {
      const known = entries.get(key);
      const isFresh = known !== undefined && !known.isStale && maxAgeMs > 0 && !expired.has(key);
      if (isFresh && options.now() - known.readAtMs < maxAgeMs) {
        seen('cache');
        return known;
      }
      try {
        const answer = await read(key, maxAgeMs);
        seen(answer.isStale ? 'stale' : 'source');
        return answer;
      } catch (error) {
        seen('failed');
        throw error;
      }
    },
    peek: (key) => entries.get(key)?.value,
    expire(key) {
      if (entries.has(key) || loading.has(key)) expired.set(key, (step += 1));
    },
  };
}

const maxOutageWaitMs = 250;

const staleSoon = <T>(known: Cached<T>): Promise<Cached<T>> =>
  new Promise((resolve) => setTimeout(() => resolve({ ...known, isStale: true }), maxOutageWaitMs));

const after = (promise: Promise<unknown>): Promise<unknown> => promise.catch(() => undefined);

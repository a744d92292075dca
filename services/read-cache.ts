// A small read-through cache: one read at a time per key, bounded in size. It never returns a value older than its caller accepts; while the source
// fails, callers get the error quickly.

export interface ReadCache<T> {
  /** Returns a value read at most `maxAgeMs` ago; 0 always reads. Rejects with the error of the source. */
  get(key: string, maxAgeMs: number): Promise<T>;
  /** Returns the last value, of any age, and when it was read. */
  peek(key: string): { value: T; readAtMs: number } | null;
  /** Called after a change of the source: the next get reads again. */
  expire(key: string): void;
  expireAll(): void;
}

export type ReadSource = 'cache' | 'source' | 'failed';

export function createReadCache<T>(options: {
  load: (key: string) => Promise<T>;
  now: () => number;
  maxEntries: number;
  /** Called with the way in which each get was answered. */
  onRead?: (source: ReadSource) => void;
}): ReadCache<T> {
  const { load, now, maxEntries, onRead } = options;
  const entries = new Map<string, Entry<T>>();
  // Orders reads and changes independently of the clock: a read that began before a change does not contain it.
  let step = 0;
  let allExpiredAt = 0;

  const entryOf = (key: string): Entry<T> => {
    const entry = entries.get(key) ?? { known: null, expiredAt: 0, failure: null, reading: null, next: null };
    // Re-inserting keeps the map in order of use: the first key is the least recently used one.
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    return entry;
  };
  const isCurrent = (entry: Entry<T>, began: number): boolean => began > Math.max(entry.expiredAt, allExpiredAt);

  const begin = (key: string, entry: Entry<T>): Promise<T> => {
    const began = (step += 1);
    const readAtMs = now();
    const answer = load(key).then(
      (value) => {
        entry.known = { value, readAtMs, began };
        entry.failure = null;
        return value;
      },
      (error: unknown) => {
        entry.failure = { error };
        throw error;
      },
    );
    const reading = { began, answer };
    entry.reading = reading;
    const end = (): void => {
      if (entry.reading === reading) entry.reading = null;
    };
    answer.then(end, end);
    return answer;
  };

  const read = (key: string, entry: Entry<T>, maxAgeMs: number): Promise<T> => {
    const { reading } = entry;
    if (reading === null) return begin(key, entry);
    if (maxAgeMs > 0 && isCurrent(entry, reading.began)) return reading.answer;
    // All callers that need a newer read share the next one, so the source still serves one read at a time.
    const startNext = (): Promise<T> => {
      entry.next = null;
      return begin(key, entry);
    };
    entry.next ??= reading.answer.then(startNext, startNext);
    return entry.next;
  };

  return {
    async get(key, maxAgeMs) {
      const entry = entryOf(key);
      const { known, failure } = entry;
      if (known !== null && isCurrent(entry, known.began) && now() - known.readAtMs < maxAgeMs) {
        onRead?.('cache');
        return known.value;
      }
      try {
        const answer = read(key, entry, maxAgeMs);
        const value = await (failure === null ? answer : Promise.race([answer, failSoon(failure.error)]));
        onRead?.('source');
        return value;
      } catch (error) {
        onRead?.('failed');
        throw error;
      }
    },
    peek: (key) => entries.get(key)?.known ?? null,
    expire(key) {
      const entry = entries.get(key);
      if (entry !== undefined) entry.expiredAt = step += 1;
    },
    expireAll() {
      allExpiredAt = step += 1;
    },
  };
}

interface Entry<T> {
  known: { value: T; readAtMs: number; began: number } | null;
  expiredAt: number;
  /** The error of the last read; null after a success. */
  failure: { error: unknown } | null;
  reading: { began: number; answer: Promise<T> } | null;
  next: Promise<T> | null;
}

/** After a failed read, callers wait this long for the next one, which continues in the background and ends the outage. */
const maxOutageWaitMs = 250;

const failSoon = (error: unknown): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(error), maxOutageWaitMs);
  });

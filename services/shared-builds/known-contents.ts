// Caches the sharable software of jobs and clusters, because a waiting instance asks often, and a sealed bundle may be large. It never changes while
// the job or cluster is open.

export interface SharedContent {
  /** Keyed hash of the software of the job or cluster. */
  content: string;
  /** Keyed hash of its host setup script; null for none. */
  setup: string | null;
}

export interface KnownContents {
  /** `key`: identifies the cluster. Null when it has no environment. */
  of(key: string, read: () => Promise<SharedContent | null>): Promise<SharedContent | null>;
}

export function createKnownContents(maxEntries = 10_000): KnownContents {
  const known = new Map<string, SharedContent | null>();
  return {
    async of(key, read) {
      const before = known.get(key);
      if (before !== undefined) return before;
      // Concurrent callers do not share one read, because it may fail for a reason of one instance alone.
      const content = await read();
      known.set(key, content);
      const [oldest] = known.keys();
      if (known.size > maxEntries && oldest !== undefined) known.delete(oldest);
      return content;
    },
  };
}

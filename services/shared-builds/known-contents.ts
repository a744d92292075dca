// What software the instances of a job or cluster may share: an instance that waits asks often, and a sealed bundle may be large. It
// never changes while the job or cluster is open.

export interface SharedContent {
  /** Keyed hash of the software that the job or cluster asks for. */
  content: string;
  /** Keyed hash of the script that prepares its instances; null for none. */
  setup: string | null;
}

export interface KnownContents {
  /** `key`: of the cluster. Null: it has no environment. */
  of(key: string, read: () => Promise<SharedContent | null>): Promise<SharedContent | null>;
}

export function createKnownContents(maxEntries = 10_000): KnownContents {
  const known = new Map<string, SharedContent | null>();
  return {
    async of(key, read) {
      const before = known.get(key);
      if (before !== undefined) return before;
      // Not one read for all who ask at once: it may fail for the reason of one instance alone.
      const content = await read();
      known.set(key, content);
      const [oldest] = known.keys();
      if (known.size > maxEntries && oldest !== undefined) known.delete(oldest);
      return content;
    },
  };
}

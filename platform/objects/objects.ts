// The storage for data that a workflow must not carry: specifications, sealed bundles, archive pages, final views. One machine
// uses a directory; several hosts use a bucket. Keys are relative paths of [a-z0-9._-] segments.

export interface Objects {
  /** Replaces the object atomically: a reader sees the old bytes or the new ones, also after a crash. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Creates the object unless it exists: of several concurrent callers exactly one gets true. The others change nothing. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** null when the object does not exist. */
  get(key: string): Promise<Uint8Array | null>;
  /** Ignores a missing object. */
  delete(key: string): Promise<void>;
  /** Keys below the prefix in ascending order, starting after `after`. */
  list(prefix: string, options: { after?: string; limit: number }): Promise<string[]>;
}

// Where everything lies that a workflow must not carry: specifications, sealed bundles, archive pages, final views.
// One machine uses a directory; clouds use buckets. Keys are relative paths of [a-z0-9._-] segments.

export interface Objects {
  /** Replaces whole objects atomically: a reader sees the old bytes or the new ones, after a crash too. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** null when there is no such object. */
  get(key: string): Promise<Uint8Array | null>;
  /** No error when there is no such object. */
  delete(key: string): Promise<void>;
  /** Keys below the prefix in ascending order, starting after `after`. */
  list(prefix: string, options: { after?: string; limit: number }): Promise<string[]>;
}

// Where everything lies that a workflow must not carry: specifications, sealed bundles, archive pages, final views.
// One machine uses a directory; several hosts use a bucket. Keys are relative paths of [a-z0-9._-] segments.

export interface Objects {
  /** Replaces whole objects atomically: a reader sees the old bytes or the new ones, after a crash too. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Creates the object unless one exists: of several callers at once exactly one gets true. The others changed nothing. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** null when there is no such object. */
  get(key: string): Promise<Uint8Array | null>;
  /** No error when there is no such object. */
  delete(key: string): Promise<void>;
  /** Keys below the prefix in ascending order, starting after `after`. */
  list(prefix: string, options: { after?: string; limit: number }): Promise<string[]>;
}

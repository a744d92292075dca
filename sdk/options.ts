// Options of calls and lists.

export interface CallOptions {
  signal?: AbortSignal;
}

export interface CreateOptions extends CallOptions {
  /** The same key with the same input creates one object only (for 24 h). By default each call has a new key. */
  idempotencyKey?: string;
}

export interface ListOptions extends CallOptions {
  /** Items per page, 1 to 1,000; 100 by default. */
  limit?: number;
  /** The `next` of an earlier page. */
  after?: string;
}

/** Filters of lists; all given conditions must hold. */
export interface Filter {
  /** The exact name, including ended ones. */
  name?: string;
  /** Only those that have not ended: at most one of them has a given name. */
  open?: boolean;
  /** Started by this user. */
  user?: string;
  /** Started at this time or later; a text may be an age: `2h`, `3 days`. */
  since?: Date | string;
  /** Started at this time or earlier. */
  until?: Date | string;
  /** Part of the name or command, in any case. */
  search?: string;
}

// The message format of grouped updates: many items in, as many answers out, in the same order. Handlers never throw because of one item, which would
// stick the workflow; the answer contains an error for that item.
import type { Problem } from '../domain/errors.ts';

export interface Flush<I> {
  items: I[];
}

export type ItemAnswer<O> = { ok: O } | { error: Problem };

export interface FlushAnswer<O> {
  items: ItemAnswer<O>[];
}

/** The task queue of workflows, and of activities that any Temporal worker can run. */
export const controlQueue = 'ropewalk';

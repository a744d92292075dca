// How grouped updates look on the wire: many items in, as many answers out, in the same order. Handlers never throw on
// one item: a poison item would stick the workflow, so it gets its own error in the answer.
import type { Problem } from '../domain/errors.ts';

export interface Flush<I> {
  items: I[];
}

export type ItemAnswer<O> = { ok: O } | { error: Problem };

export interface FlushAnswer<O> {
  items: ItemAnswer<O>[];
}

/** The queue of workflows and of activities that any Temporal worker can run. */
export const controlQueue = 'ropewalk';

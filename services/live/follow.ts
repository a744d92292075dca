// Reads a view once a second until its job or cluster has ended: one stream instead of many requests.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { Deps } from '../context.ts';
import { shuttingDown } from '../shutting-down.ts';
import { JsonLine } from './json-line.ts';

export interface FollowInput {
  follow: boolean;
  /** Aborts when the reader has disconnected. */
  signal: AbortSignal;
}

export interface ViewSource<V> {
  /** Read before, so errors of the request are reported before the stream begins. */
  first: V;
  read: () => Promise<V>;
  hasEnded: (view: V) => boolean;
}

const pollMs = 1_000;

/** Yields each view, changed or not; while Temporal or the database is unavailable, the last one again. */
export async function* readAgain<V>(
  deps: Pick<Deps, 'stopping'>,
  { follow, signal: left }: FollowInput,
  { first, read, hasEnded }: ViewSource<V>,
): AsyncGenerator<V> {
  const signal = AbortSignal.any([left, deps.stopping]);
  let view = first;
  for (;;) {
    yield view;
    if (!follow || hasEnded(view) || left.aborted) return;
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    // A stream that ends because this process stops must not look complete to its reader.
    if (deps.stopping.aborted) throw shuttingDown();
    const last = view;
    view = await read().catch((error: unknown) => unlessAway(error, last));
  }
}

/** The cost of a running instance grows every second, so a view without other changes is repeated at this interval. */
export const costPaceMs = 30_000;

/** The view, and again whenever it has changed. Readers of the same object share its texts. */
export async function* followView<V extends object>(
  deps: Pick<Deps, 'stopping' | 'monotonicMs'>,
  input: FollowInput,
  source: ViewSource<V>,
): AsyncGenerator<JsonLine> {
  let last: V | null = null;
  let given = { text: '', withoutCosts: '', atMs: 0 };
  for await (const view of readAgain(deps, input, source)) {
    const atMs = deps.monotonicMs();
    if (view === last && atMs - given.atMs < costPaceMs) continue;
    last = view;
    const { line, withoutCosts } = textsOf(view);
    if (line.text === given.text) continue;
    if (withoutCosts === given.withoutCosts && atMs - given.atMs < costPaceMs) continue;
    given = { text: line.text, withoutCosts, atMs };
    yield line;
  }
}

interface Texts {
  line: JsonLine;
  withoutCosts: string;
}

const texts = new WeakMap<object, Texts>();

function textsOf(view: object): Texts {
  const known = texts.get(view);
  if (known !== undefined) return known;
  const made = { line: new JsonLine(JSON.stringify(view)), withoutCosts: JSON.stringify(view, leaveOutCosts) };
  texts.set(view, made);
  return made;
}

/** A tag may be named `cost`, too: its value is text. */
const leaveOutCosts = (key: string, value: unknown): unknown =>
  key === 'cost' && typeof value !== 'string' ? undefined : value;

function unlessAway<V>(error: unknown, last: V): V {
  if (error instanceof RopewalkError && error.problem.code === 'UNAVAILABLE') return last;
  throw error;
}

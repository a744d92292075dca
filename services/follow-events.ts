// What happened, told in order from a view that is read once a second: what is new is given, until its object is over.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../domain/errors.ts';
import type { Deps } from './context.ts';
import { shuttingDown } from './shutting-down.ts';
import { time } from './to-wire.ts';

export interface EventsInput {
  number: number;
  follow: boolean;
  since?: string | undefined;
  /** Aborts when the reader has left. */
  signal: AbortSignal;
}

interface Event {
  atMs: number;
  code: string;
  text: string;
}

export interface EventSource<V, E extends Event> {
  first: V;
  read: () => Promise<V>;
  isOver: (view: V) => boolean;
  eventsOf: (view: V) => readonly E[];
  /** Those of `now` that `before`, the events of the look before, did not have. */
  added: (before: readonly E[], now: readonly E[]) => readonly E[];
}

type Told<E extends Event> = Omit<E, 'atMs'> & { at: string };

export async function* followEvents<V, E extends Event>(
  deps: Pick<Deps, 'stopping'>,
  input: EventsInput,
  { first, read, isOver, eventsOf, added }: EventSource<V, E>,
): AsyncGenerator<Told<E>> {
  const sinceMs = input.since === undefined ? 0 : Date.parse(input.since);
  const signal = AbortSignal.any([input.signal, deps.stopping]);
  let view = first;
  let told: readonly E[] = [];
  for (;;) {
    const events = eventsOf(view);
    for (const { atMs, ...event } of added(told, events)) if (atMs >= sinceMs) yield { at: time(atMs), ...event };
    told = events;
    if (!input.follow || isOver(view) || input.signal.aborted) return;
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    // A stream that our own end cuts short must not look complete to its reader.
    if (deps.stopping.aborted) throw shuttingDown();
    view = await read().catch((error: unknown) => unlessAway(error, view));
  }
}

const pollMs = 1_000;

function unlessAway<V>(error: unknown, last: V): V {
  if (error instanceof RopewalkError && error.problem.code === 'UNAVAILABLE') return last;
  throw error;
}

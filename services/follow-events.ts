// The events of a job or cluster in order, from a view that is read once a second, until it has ended.
import type { Deps } from './context.ts';
import { readAgain, type ViewSource } from './live/follow.ts';
import { time } from './to-wire.ts';

export interface EventsInput {
  number: number;
  follow: boolean;
  since?: string | undefined;
  /** Aborts when the reader has disconnected. */
  signal: AbortSignal;
}

interface Event {
  atMs: number;
  code: string;
  text: string;
}

export interface EventSource<V, E extends Event> extends ViewSource<V> {
  eventsOf: (view: V) => readonly E[];
  /** The events of `now` that are not in `before`, the events of the previous read. */
  added: (before: readonly E[], now: readonly E[]) => readonly E[];
}

type Shown<E extends Event> = Omit<E, 'atMs'> & { at: string };

export async function* followEvents<V, E extends Event>(
  deps: Pick<Deps, 'stopping'>,
  input: EventsInput,
  { eventsOf, added, ...source }: EventSource<V, E>,
): AsyncGenerator<Shown<E>> {
  const sinceMs = input.since === undefined ? 0 : Date.parse(input.since);
  let given: readonly E[] = [];
  for await (const view of readAgain(deps, input, source)) {
    const events = eventsOf(view);
    for (const { atMs, ...event } of added(given, events)) if (atMs >= sinceMs) yield { at: time(atMs), ...event };
    given = events;
  }
}

// The events of a cluster in order. A view contains only the newest events.
import type { Cluster } from '../../schema/clusters.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { followEvents, type EventsInput } from '../follow-events.ts';

type WireEvent = Cluster['events'][number];

/** Rejects before the first event for an invalid scope or number. */
export async function readEvents({ deps, actor }: Context, input: EventsInput): Promise<AsyncIterable<WireEvent>> {
  requireScope(actor, 'read');
  const read = () => deps.views.cluster(actor.workspace, input.number).then(({ view }) => view);
  const { view: first, record } = await deps.views.cluster(actor.workspace, input.number);
  requireCreator(actor, 'Cluster', record, 'may read its events');
  return followEvents(deps, input, {
    first,
    read,
    hasEnded: ({ endedAtMs }) => endedAtMs !== null,
    eventsOf: ({ events }) => events,
    added,
  });
}

/** Both lists are ends of one growing list: the items after their longest overlap are new. */
export function added<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  const texts = (list: readonly T[]) => list.map((item) => JSON.stringify(item));
  const [old, fresh] = [texts(before), texts(now)];
  for (let from = Math.max(0, old.length - fresh.length); from < old.length; from += 1) {
    if (old.slice(from).every((text, index) => text === fresh[index])) return now.slice(old.length - from);
  }
  return now;
}

// The events of a cluster in order: those of its recorded history, then those of its view, which contains only the newest.
import type { ClusterView } from '../../contracts/cluster.ts';
import type { Moment } from '../../domain/cluster/history.ts';
import { maxEventsKept } from '../../domain/cluster/limits.ts';
import type { Cluster } from '../../schema/clusters.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { followEvents, type EventsInput } from '../follow-events.ts';

type WireEvent = Cluster['events'][number];
type Event = ClusterView['events'][number];

/** Rejects before the first event for an invalid scope or number. */
export async function readEvents({ deps, actor }: Context, input: EventsInput): Promise<AsyncIterable<WireEvent>> {
  requireScope(actor, 'read');
  const read = () => deps.views.cluster(actor.workspace, input.number).then(({ view }) => view);
  const { view: first, record } = await deps.views.cluster(actor.workspace, input.number);
  requireCreator(actor, 'Cluster', record, 'may read its events');
  return followEvents(deps, input, {
    first: { ...first, events: await allEvents(deps, first, input.since) },
    read,
    hasEnded: ({ endedAtMs }) => endedAtMs !== null,
    eventsOf: ({ events }) => events,
    added,
  });
}

async function allEvents({ store, now }: Deps, view: ClusterView, since: string | undefined): Promise<Event[]> {
  const [oldest] = view.events;
  const isWhole = view.events.length < maxEventsKept || oldest === undefined;
  if (isWhole || (since !== undefined && Date.parse(since) > oldest.atMs)) return [...view.events];
  const recorded: Event[] = [];
  let lastSeq = 0;
  const take = (moment: Moment): void => {
    // The view may still hold events that the database has.
    if (moment.seq <= lastSeq) return;
    lastSeq = moment.seq;
    if (moment.kind !== 'event') return;
    const { atMs, code, text, by } = moment;
    recorded.push({ atMs, code, text, ...(by === undefined ? {} : { by }) });
  };
  await store.history.read({ cluster: view.number, untilMs: now() }, take);
  for (const moment of view.history ?? []) take(moment);
  return joined(recorded, view.events);
}

/** The recorded events before those of the view, and these; a change can be in the view and recorded. */
export function joined(recorded: readonly Event[], newest: readonly Event[]): Event[] {
  const firstMs = newest[0]?.atMs ?? Number.POSITIVE_INFINITY;
  const texts = new Set(newest.map((event) => JSON.stringify(event)));
  const isOlder = (event: Event): boolean =>
    event.atMs < firstMs || (event.atMs === firstMs && !texts.has(JSON.stringify(event)));
  return [...recorded.filter(isOlder), ...newest];
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

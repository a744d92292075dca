// The events of a cluster in order: those of its recorded history, then those of its view, which contains only the newest.
import type { ClusterView } from '../../contracts/cluster.ts';
import { eventOf, type NumberedEvent } from '../../domain/cluster/history.ts';
import { maxEventsKept } from '../../domain/cluster/limits.ts';
import type { ClusterEvent } from '../../schema/events.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { readHistory } from './history.ts';
import { readAgain, type FollowInput, type ViewSource } from '../live/follow.ts';
import { wireEvent } from '../to-wire.ts';

export interface ClusterEventsInput extends FollowInput {
  number: number;
  since?: string | undefined;
  /** Only events with greater numbers. */
  after?: number | undefined;
  limit?: number | undefined;
}

/** Rejects before the first event for an invalid scope or number. */
export async function readEvents({ deps, actor }: Context, input: ClusterEventsInput) {
  requireScope(actor, 'read');
  const read = () => deps.views.cluster(actor.workspace, input.number).then(({ view }) => view);
  const { view: first, record } = await deps.views.cluster(actor.workspace, input.number);
  requireCreator(actor, 'Cluster', record, 'may read its events');
  return followEvents(deps, input, { first, read, hasEnded: ({ endedAtMs }) => endedAtMs !== null });
}

async function* followEvents(
  deps: Deps,
  { after = 0, limit, since, ...input }: ClusterEventsInput,
  source: ViewSource<ClusterView>,
): AsyncGenerator<ClusterEvent> {
  const sinceMs = since === undefined ? 0 : Date.parse(since);
  let last = after;
  let given = 0;
  for await (const view of readAgain(deps, input, source)) {
    for await (const event of eventsAfter(deps, view, last, sinceMs)) {
      last = event.seq;
      if (event.atMs < sinceMs) continue;
      yield wireEvent(event);
      given += 1;
      if (given === limit) return;
    }
  }
}

/** Events with greater numbers. The recorded ones are read only when the view may lack some that are not older than `sinceMs`. */
async function* eventsAfter(
  { store }: Pick<Deps, 'store'>,
  { number, events, history = [] }: ClusterView,
  after: number,
  sinceMs = 0,
): AsyncGenerator<NumberedEvent> {
  const [oldest] = events;
  if (oldest !== undefined && events.length >= maxEventsKept && oldest.seq > after && oldest.atMs >= sinceMs) {
    let last = after;
    for await (const moment of readHistory(store, { cluster: number, after })) {
      if (moment.seq >= oldest.seq) break;
      last = moment.seq;
      if (moment.kind === 'event') yield eventOf(moment);
    }
    // Those that are not in the database yet.
    for (const moment of history) {
      if (moment.kind === 'event' && moment.seq > last && moment.seq < oldest.seq) yield eventOf(moment);
    }
  }
  for (const event of events) if (event.seq > after) yield event;
}

/** At most the newest 200 of each code, in order. */
export async function newestEvents(deps: Pick<Deps, 'store'>, view: ClusterView): Promise<NumberedEvent[]> {
  const byCode = new Map<string, NumberedEvent[]>();
  for await (const event of eventsAfter(deps, view, 0)) {
    const known = byCode.get(event.code) ?? [];
    byCode.set(event.code, [...known.slice(1 - maxOfCode), event]);
  }
  return [...byCode.values()].flat().toSorted((a, b) => a.seq - b.seq);
}

const maxOfCode = 200;

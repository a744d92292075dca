// What happened to a cluster, in order. A view holds the newest events only: following reads it once a second and tells
// what was added, and ends when the cluster is over.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../../domain/errors.ts';
import type { Cluster } from '../../../schema/clusters.ts';
import type { ClusterView } from '../../../workflows/cluster/messages.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { wireEvent } from '../to-wire.ts';

export interface EventsInput {
  number: number;
  follow: boolean;
  since?: string | undefined;
  /** Aborts when the reader has left. */
  signal: AbortSignal;
}

type WireEvent = Cluster['events'][number];

/** Rejects before the first event for what can be known then: scope and number. */
export async function readEvents(context: Context, input: EventsInput): Promise<AsyncIterable<WireEvent>> {
  const { deps, actor } = context;
  requireScope(actor, 'read', { honourStale: true });
  const { view } = await deps.views.cluster(actor.workspace, input.number);
  return follow(context, input, view);
}

async function* follow({ deps, actor }: Context, input: EventsInput, first: ClusterView): AsyncGenerator<WireEvent> {
  const sinceMs = input.since === undefined ? 0 : Date.parse(input.since);
  const signal = AbortSignal.any([input.signal, deps.stopping]);
  let view = first;
  let told: ClusterView['events'] = [];
  for (;;) {
    for (const event of added(told, view.events)) if (event.atMs >= sinceMs) yield wireEvent(event);
    told = view.events;
    if (!input.follow || view.endedAtMs !== null || input.signal.aborted) return;
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    // A stream that our own end cuts short must not look complete to its reader.
    if (deps.stopping.aborted) throw new Error('the API is shutting down');
    view = await deps.views.cluster(actor.workspace, input.number).then(
      (read) => read.view,
      (error: unknown) => unlessAway(error, view),
    );
  }
}

const pollMs = 1_000;

/** Both are the end of one list that only grows: what follows their longest overlap is new. */
export function added<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  const texts = (list: readonly T[]) => list.map((item) => JSON.stringify(item));
  const [old, fresh] = [texts(before), texts(now)];
  for (let from = Math.max(0, old.length - fresh.length); from < old.length; from += 1) {
    if (old.slice(from).every((text, index) => text === fresh[index])) return now.slice(old.length - from);
  }
  return now;
}

function unlessAway(error: unknown, last: ClusterView): ClusterView {
  if (error instanceof RopewalkError && error.problem.code === 'UNAVAILABLE') return last;
  throw error;
}

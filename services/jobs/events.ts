// The events of a job in order, derived from its view, which keeps only its newest errors. Nothing is stored for them.
import type { JobEvent } from '../../schema/events.ts';
import type { JobView } from '../../contracts/job.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { readAgain, type FollowInput, type ViewSource } from '../live/follow.ts';
import { time } from '../to-wire.ts';

export interface JobEventsInput extends FollowInput {
  number: number;
  since?: string | undefined;
}

/** Rejects before the first event for an invalid scope or number. */
export async function readJobEvents({ deps, actor }: Context, input: JobEventsInput): Promise<AsyncIterable<JobEvent>> {
  requireScope(actor, 'read');
  const read = () => deps.views.job(actor.workspace, input.number).then(({ view }) => view);
  const { view: first, record } = await deps.views.job(actor.workspace, input.number);
  requireCreator(actor, 'Job', record, 'may read its events');
  return followEvents(deps, input, { first, read, hasEnded });
}

async function* followEvents(
  deps: Pick<Deps, 'stopping'>,
  input: JobEventsInput,
  source: ViewSource<JobView>,
): AsyncGenerator<JobEvent> {
  const sinceMs = input.since === undefined ? 0 : Date.parse(input.since);
  let given: readonly Happened[] = [];
  for await (const view of readAgain(deps, input, source)) {
    const events = jobEvents(view);
    for (const { atMs, ...event } of addedSince(given, events)) if (atMs >= sinceMs) yield { at: time(atMs), ...event };
    given = events;
  }
}

const hasEnded = ({ status }: JobView) => status !== 'waiting' && status !== 'pending' && status !== 'running';

type Happened = Omit<JobEvent, 'at'> & { atMs: number };

export function jobEvents(view: JobView): Happened[] {
  const { user, command, reason, submittedAtMs, startedAtMs, recentErrors } = view;
  const events: Happened[] = [
    { atMs: submittedAtMs, code: 'SUBMITTED', text: `submitted by ${user}: ${command}`, by: user },
  ];
  if (startedAtMs !== null) events.push({ atMs: startedAtMs, code: 'STARTED', text: 'the first task has started' });
  for (const { task, attempt, text, atMs } of recentErrors) {
    events.push({ atMs, code: 'TASK_FAILED', text: `task ${task}, attempt ${attempt}: ${text}` });
  }
  if (reason !== null) events.push({ ...reason });
  return events.toSorted((a, b) => a.atMs - b.atMs);
}

/** Old errors leave the view, so the lists may not overlap. The submission is one event, even if an early view has another time for it. */
export function addedSince(before: readonly Happened[], now: readonly Happened[]): readonly Happened[] {
  const keyOf = (event: Happened) => (once.has(event.code) ? event.code : JSON.stringify(event));
  const known = new Set(before.map(keyOf));
  return now.filter((event) => !known.has(keyOf(event)));
}

const once = new Set(['SUBMITTED', 'STARTED']);

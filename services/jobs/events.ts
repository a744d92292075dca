// The events of a job in order, derived from its view, which keeps only its newest errors. Nothing is stored for them.
import type { JobEvent } from '../../schema/jobs.ts';
import type { JobView } from '../../contracts/job.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { followEvents, type EventsInput } from '../follow-events.ts';

/** Rejects before the first event for an invalid scope or number. */
export async function readJobEvents({ deps, actor }: Context, input: EventsInput): Promise<AsyncIterable<JobEvent>> {
  requireScope(actor, 'read');
  const read = () => deps.views.job(actor.workspace, input.number).then(({ view }) => view);
  const { view: first, record } = await deps.views.job(actor.workspace, input.number);
  requireCreator(actor, 'Job', record, 'may read its events');
  return followEvents(deps, input, { first, read, hasEnded, eventsOf: jobEvents, added: addedSince });
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

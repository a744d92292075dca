// Finds in a workflow's history why its workflow task fails, and which task wrote the events that the code does not follow.
import type { Client } from '@temporalio/client';

import { eventNamedBy } from '../domain/stuck/decide.ts';
import type { StuckObservation } from '../domain/stuck/state.ts';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type Events = NonNullable<History['events']>;

/** Replays with the code of this process, because the server records only the first failure of a workflow task. */
export interface Replayer {
  buildId: () => string;
  /** Returns the SDK's message why the code cannot follow the history; null when it can. */
  violation: (history: History, workflowId: string) => Promise<string | null>;
}

export async function readStuckHistory(
  history: History,
  replayer: Replayer,
  pending: { workflowId: string; runId: string; attempt: number },
): Promise<StuckObservation> {
  const events = history.events ?? [];
  const failure = failureIn(events) ?? (await failureByReplay(replayer, history, pending.workflowId));
  if (failure?.cause !== nondeterminism) return { ...pending, failure, writer: null };
  const named = writerOf(events, eventNamedBy(failure.message));
  // The known fault requires that the failing code wrote part of the history; otherwise there is nothing to search.
  const isSearched = named === null && events.some((event) => isDone(event) && writtenBy(event) === failure.buildId);
  return {
    ...pending,
    failure,
    writer: isSearched ? await writerByReplay(replayer, events, pending.workflowId) : named,
  };
}

/** When the first attempt timed out, the server has not recorded the failures of the others. */
async function failureByReplay(
  { buildId, violation }: Replayer,
  history: History,
  workflowId: string,
): Promise<StuckObservation['failure']> {
  const message = await violation(history, workflowId);
  return message === null ? null : { cause: nondeterminism, message, buildId: buildId() };
}

/**
 * Not every failure names an event. Then this searches the shortest prefix of the history that the code cannot follow; the events at fault were
 * written just before its end. A prefix ends with a started workflow task, because the server delivers histories in that form.
 */
async function writerByReplay(
  replayer: Replayer,
  events: Events,
  workflowId: string,
): Promise<StuckObservation['writer']> {
  const ends = events.flatMap((event, at) => (event.workflowTaskStartedEventAttributes ? [at + 1] : []));
  const isFollowed = async (end: number): Promise<boolean> =>
    (await replayer.violation({ events: events.slice(0, end) }, workflowId)) === null;
  let [followed, lost] = [0, ends.length - 1];
  if (lost < 1 || (await isFollowed(ends[lost] ?? 0))) return null;
  while (lost - followed > 1) {
    const middle = Math.floor((followed + lost) / 2);
    if (await isFollowed(ends[middle] ?? 0)) followed = middle;
    else lost = middle;
  }
  return writerBefore(events, events.slice(0, ends[lost]).findLastIndex(isDone));
}

/** The failure that the server recorded; null when no workflow task has failed since the last completed one. */
function failureIn(events: Events): StuckObservation['failure'] {
  const failedAt = events.findLastIndex((event) => event.workflowTaskFailedEventAttributes);
  const failed = events[failedAt]?.workflowTaskFailedEventAttributes;
  const isPast = events.slice(failedAt + 1).some(isDone);
  if (failed === undefined || failed === null || isPast) return null;
  const message = failed.failure?.message ?? '';
  const started = events.find((event) => Number(event.eventId) === Number(failed.startedEventId));
  const buildId = started?.workflowTaskStartedEventAttributes?.workerVersion?.buildId ?? '';
  const cause = failed.cause === nondeterministicError ? nondeterminism : `cause ${failed.cause}`;
  return { cause, message, buildId };
}

/** The event of a command follows the completed workflow task that issued it, and precedes the next scheduled one. */
function writerOf(events: Events, eventId: number | null): StuckObservation['writer'] {
  if (eventId === null) return null;
  return writerBefore(
    events,
    events.findLastIndex((event) => Number(event.eventId) < eventId && isDone(event)),
  );
}

function writerBefore(events: Events, at: number): StuckObservation['writer'] {
  const completed = events[at];
  if (completed === undefined) return null;
  const after = events.slice(at + 1);
  const end = after.findIndex((event) => event.workflowTaskScheduledEventAttributes);
  const written = end < 0 ? after : after.slice(0, end);
  return {
    completedEventId: Number(completed.eventId),
    buildId: writtenBy(completed),
    hasUpdate: written.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes),
    isRepeated: wasScheduledBefore(events.slice(0, at)),
  };
}

/** True when a workflow task failed or timed out since the last completed one. */
function wasScheduledBefore(events: Events): boolean {
  const since = events.slice(events.findLastIndex(isDone) + 1);
  return since.some((event) => event.workflowTaskFailedEventAttributes || event.workflowTaskTimedOutEventAttributes);
}

const isDone = (event: Events[number]): boolean => Boolean(event.workflowTaskCompletedEventAttributes);

const writtenBy = (done: Events[number]): string =>
  done.workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? '';

const nondeterminism = 'NON_DETERMINISTIC_ERROR';

/** From the protocol's enumeration of causes. */
const nondeterministicError = 24;

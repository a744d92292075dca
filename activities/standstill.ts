// Reads from a workflow's history why its workflow task fails, and which one wrote what it fails at.
import type { Client } from '@temporalio/client';

import { eventNamedBy } from '../domain/heal/decide.ts';
import type { Standstill } from '../domain/heal/state.ts';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type Events = NonNullable<History['events']>;

/** The code that this process runs, put to the test: a server writes down only the first failure of a workflow task. */
export interface Replayer {
  buildId: () => string;
  /** The SDK's word on why the code cannot follow the history; null when it can. */
  violation: (history: History, workflowId: string) => Promise<string | null>;
}

export async function readStandstill(
  history: History,
  replayer: Replayer,
  pending: { workflowId: string; runId: string; attempt: number },
): Promise<Standstill> {
  const told = failureIn(history.events ?? []);
  const found = told.failure === null ? await replayed(replayer, history, pending.workflowId) : told;
  return { ...pending, ...found };
}

/** When its first try ran out of time, what became of the others is nowhere. */
async function replayed(
  { buildId, violation }: Replayer,
  history: History,
  workflowId: string,
): Promise<Pick<Standstill, 'failure' | 'writer'>> {
  const message = await violation(history, workflowId);
  if (message === null) return { failure: null, writer: null };
  const failure = { cause: nondeterminism, message, buildId: buildId() };
  return { failure, writer: writerOf(history.events ?? [], eventNamedBy(message)) };
}

export function failureIn(events: Events): Pick<Standstill, 'failure' | 'writer'> {
  const failedAt = events.findLastIndex((event) => event.workflowTaskFailedEventAttributes);
  const failed = events[failedAt]?.workflowTaskFailedEventAttributes;
  const isOver = events.slice(failedAt + 1).some((event) => event.workflowTaskCompletedEventAttributes);
  if (failed === undefined || failed === null || isOver) return { failure: null, writer: null };
  const message = failed.failure?.message ?? '';
  const started = events.find((event) => Number(event.eventId) === Number(failed.startedEventId));
  const buildId = started?.workflowTaskStartedEventAttributes?.workerVersion?.buildId ?? '';
  const cause = failed.cause === nondeterministicError ? nondeterminism : `cause ${failed.cause}`;
  return { failure: { cause, message, buildId }, writer: writerOf(events, eventNamedBy(message)) };
}

/** Every command's event follows the end of the workflow task that gave it, and comes before anything else is scheduled. */
function writerOf(events: Events, eventId: number | null): Standstill['writer'] {
  if (eventId === null) return null;
  const at = events.findLastIndex(
    (event) => Number(event.eventId) < eventId && event.workflowTaskCompletedEventAttributes,
  );
  const completed = events[at];
  if (completed === undefined) return null;
  const after = events.slice(at + 1);
  const end = after.findIndex((event) => event.workflowTaskScheduledEventAttributes);
  const written = end < 0 ? after : after.slice(0, end);
  return {
    completedEventId: Number(completed.eventId),
    buildId: completed.workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? '',
    hasUpdate: written.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes),
    isRepeated: wasBegunBefore(events.slice(0, at)),
  };
}

/** Whether one was begun and not done since one was last done. */
function wasBegunBefore(events: Events): boolean {
  const lastDone = events.findLastIndex((event) => event.workflowTaskCompletedEventAttributes);
  return events
    .slice(lastDone + 1)
    .some(
      ({ workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: timedOut }) =>
        failed || timedOut?.timeoutType === startToClose,
    );
}

const nondeterminism = 'NON_DETERMINISTIC_ERROR';

/** Of the protocol's enumeration of causes. */
const nondeterministicError = 24;

/** Of the protocol's enumeration of time-outs: the task was begun. */
const startToClose = 1;

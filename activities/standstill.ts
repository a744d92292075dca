// Reads from a workflow's history why its workflow task fails, and which one wrote what it fails at.
import type { Client } from '@temporalio/client';

import { eventNamedBy } from '../domain/heal/decide.ts';
import type { Standstill } from '../domain/heal/state.ts';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
export type Events = NonNullable<History['events']>;

export async function readStandstill(
  client: Client,
  pending: { workflowId: string; runId: string; attempt: number },
): Promise<{ standstill: Standstill; events: Events }> {
  const { events } = await client.workflow.getHandle(pending.workflowId, pending.runId).fetchHistory();
  return { standstill: { ...pending, ...failureIn(events ?? []) }, events: events ?? [] };
}

export function failureIn(events: Events): Pick<Standstill, 'failure' | 'writer'> {
  const failedAt = events.findLastIndex((event) => event.workflowTaskFailedEventAttributes);
  const failed = events[failedAt]?.workflowTaskFailedEventAttributes;
  const isOver = events.slice(failedAt + 1).some((event) => event.workflowTaskCompletedEventAttributes);
  if (failed === undefined || failed === null || isOver) return { failure: null, writer: null };
  const message = failed.failure?.message ?? '';
  const started = events.find((event) => Number(event.eventId) === Number(failed.startedEventId));
  const buildId = started?.workflowTaskStartedEventAttributes?.workerVersion?.buildId ?? '';
  const cause = failed.cause === nondeterministicError ? 'NON_DETERMINISTIC_ERROR' : `cause ${failed.cause}`;
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
  };
}

/** Of the protocol's enumeration of causes. */
const nondeterministicError = 24;

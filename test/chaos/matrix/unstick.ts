// A known fault of Temporal's SDK (temporalio/sdk-rust issues 943 and 1146, pull request 961): a worker dies in a workflow task, and
// the next one gets an update in the same task as what the dead one had not worked off. It then writes commands in an order
// that no replay repeats, and the workflow stands still with "Nondeterminism error: Update machine does not handle ...". An
// operator's remedy is a reset to before that task: signals and updates since then are applied again. The matrix does just
// that, and counts it, so that it goes on finding what is ours.
import { randomUUID } from 'node:crypto';

import type { Bed } from './bed.ts';

const known = /Nondeterminism error: Update machine does not handle this event: HistoryEvent\(id: (\d+)/;

/** Resets the workflow if it stands still by this fault and no other; says so, or null. */
export async function unstick(bed: Bed, workflowId: string): Promise<string | null> {
  const { workflow, workflowService, options } = bed.temporal;
  const handle = workflow.getHandle(workflowId);
  const description = await handle.describe().catch(() => null);
  if (description === null || (description.raw.pendingWorkflowTask?.attempt ?? 0) < 2) return null;
  const events = (await handle.fetchHistory()).events ?? [];
  const failure = events.findLast(
    (event) => event.workflowTaskFailedEventAttributes,
  )?.workflowTaskFailedEventAttributes;
  const eventId = Number(known.exec(failure?.failure?.message ?? '')?.[1] ?? 0);
  // Every command's event follows the end of the workflow task that gave it: the nearest one before is the task to redo.
  const redo = events.findLast(
    (event) => Number(event.eventId) < eventId && event.workflowTaskCompletedEventAttributes,
  )?.eventId;
  if (redo === undefined || redo === null) return null;
  await workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId, runId: description.runId },
    reason: 'an order of commands that no replay repeats (temporalio/sdk-rust#1146)',
    requestId: randomUUID(),
    workflowTaskFinishEventId: redo,
  });
  return `${workflowId} was reset to event ${Number(redo)}: ${failure?.failure?.message ?? ''}`;
}

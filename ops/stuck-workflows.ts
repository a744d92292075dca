// Finds stuck workflows now, as the schedule does every minute, and the event to which one could be reset. A Temporal worker
// decides, with the memory of the schedule's runs.
import type { Client } from '@temporalio/client';

import { controlQueue } from '../contracts/flush.ts';
import { namespaceOwner } from '../platform/namespace-claim.ts';
import {
  stuckWorkflowsDryRunId,
  type StuckWorkflowsInput,
  stuckWorkflowsNowId,
  type StuckWorkflowsReport,
  stuckWorkflowsType,
} from '../contracts/stuck-workflows.ts';
import { hasPoller } from './pollers.ts';
import { runNow } from './run-now.ts';

/** Null when no deployment has claimed the namespace, or no Temporal worker polls it. */
export async function findStuckWorkflows(
  client: Client,
  { autoReset }: { autoReset: boolean },
): Promise<StuckWorkflowsReport | null> {
  const deploymentId = await namespaceOwner(client);
  if (deploymentId === null || !(await hasPoller(client, controlQueue, 'workflows'))) return null;
  const input: StuckWorkflowsInput = { deploymentId, autoReset };
  const workflowId = autoReset ? stuckWorkflowsNowId : stuckWorkflowsDryRunId;
  const summary = `${autoReset ? 'Finds and resets' : 'Finds'} stuck workflows, asked for by hand`;
  return runNow(client, { type: stuckWorkflowsType, workflowId, input, waitMs, summary });
}

/**
 * The completed workflow task event to reset to: the last one before the event in the failure message, or the last one of all.
 * Null when the history has none.
 */
export async function resetPoint(client: Client, workflowId: string, failure: string): Promise<number | null> {
  const named = /HistoryEvent\(id: (\d+)/.exec(failure)?.[1];
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const completed = (events ?? []).flatMap(({ eventId, workflowTaskCompletedEventAttributes }) =>
    workflowTaskCompletedEventAttributes ? [Number(eventId)] : [],
  );
  return completed.findLast((id) => named === undefined || id < Number(named)) ?? null;
}

const waitMs = 60_000;

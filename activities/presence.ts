// Whether a workflow exists, and which deployment owns the namespace. Asks Temporal's history service, never visibility, which lags.
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';

import { type NamespaceMemo, reconcileScheduleId } from '../contracts/reconcile.ts';
import { updateDeadlineMs } from '../domain/workflow-limits.ts';
import type { WorkflowPresence } from '../domain/presence.ts';

/** Never rejects: any ambiguous answer of the server is `unknown`. */
export const presenceOf = async (client: Client, workflowId: string): Promise<WorkflowPresence> =>
  (await lookUp(client, workflowId)).presence;

/** Includes the description of an existing workflow. */
export async function lookUp(
  client: Client,
  workflowId: string,
): Promise<{ presence: WorkflowPresence; description: WorkflowExecutionDescription | null }> {
  try {
    const description = await describeWorkflow(client, workflowId);
    return { presence: presenceIn(description.status.name), description };
  } catch (error) {
    return { presence: error instanceof WorkflowNotFoundError ? 'not found' : 'unknown', description: null };
  }
}

function presenceIn(status: string): WorkflowPresence {
  if (closed.has(status)) return 'closed';
  return status === 'RUNNING' || status === 'CONTINUED_AS_NEW' ? 'open' : 'unknown';
}

const closed: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

export const describeWorkflow = (client: Client, workflowId: string): Promise<WorkflowExecutionDescription> =>
  inTime(client, () => client.workflow.getHandle(workflowId).describe());

/** Null without an answer: the workflow does not exist or cannot be replayed, or no Temporal worker has time. */
export async function queryOrNull<T>(client: Client, workflowId: string, query: string): Promise<T | null> {
  try {
    return await inTime(client, () => client.workflow.getHandle(workflowId).query<T>(query));
  } catch {
    return null;
  }
}

/** The deployment that owns the namespace; null when none has claimed it, or its tag cannot be read. */
export async function deploymentOf(client: Client): Promise<string | null> {
  try {
    const { memo } = await inTime(client, () => client.schedule.getHandle(reconcileScheduleId).describe());
    const id = memo?.['deploymentId' satisfies keyof NamespaceMemo];
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

/** Without a deadline, the client waits forever. */
export const inTime = <T>(client: Client, call: () => Promise<T>): Promise<T> =>
  client.withDeadline(Date.now() + updateDeadlineMs, call);

/** Why a maintenance run does nothing in this namespace; null in the deployment's own namespace. */
export async function refusalFor(client: Client, deploymentId: string): Promise<string | null> {
  const found = await deploymentOf(client);
  if (found === deploymentId) return null;
  return found === null
    ? `the schedule "${reconcileScheduleId}", which says whose this Temporal namespace is, could not be read`
    : `this Temporal namespace belongs to deployment ${found}, not to ${deploymentId}`;
}

// Whether a workflow is still there. Asked of the workflow itself and never of visibility, which lags behind.
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';

import { updateDeadlineMs } from '../domain/limits.ts';
import type { ClusterPresence } from '../domain/sweep/state.ts';
import { deploymentId as deploymentWorkflowId } from '../workflows/deployment/messages.ts';

/** Never rejects: whatever the server does not clearly say is `unknown`. */
export async function presenceOf(client: Client, workflowId: string): Promise<ClusterPresence> {
  try {
    const { status } = await describeWorkflow(client, workflowId);
    if (closed.has(status.name)) return 'closed';
    return status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW' ? 'open' : 'unknown';
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'not found' : 'unknown';
  }
}

export function describeWorkflow(client: Client, workflowId: string): Promise<WorkflowExecutionDescription> {
  return client.withDeadline(Date.now() + updateDeadlineMs, () => client.workflow.getHandle(workflowId).describe());
}

/** null when nobody answers: the workflow is not there, cannot be replayed, or no Temporal worker has the time. */
export async function queryOrNull<T>(client: Client, workflowId: string, query: string): Promise<T | null> {
  try {
    return await client.withDeadline(Date.now() + updateDeadlineMs, () =>
      client.workflow.getHandle(workflowId).query<T>(query),
    );
  } catch {
    return null;
  }
}

/** Whose the namespace is; null also when there is no deployment workflow: an empty namespace proves nothing about anybody. */
export async function deploymentOf(client: Client): Promise<string | null> {
  try {
    const { memo } = await describeWorkflow(client, deploymentWorkflowId);
    const id = memo?.['deploymentId'];
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

const closed: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

// The deployment's workflow: made once per Temporal namespace, and never taken over. It touches nothing when the namespace
// belongs to another deployment.
import { type Client, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/client';

import { RopewalkError } from '../../domain/errors.ts';
import { workflowTaskTimeoutMs } from '../../domain/limits.ts';
import { deploymentId as deploymentWorkflowId, deploymentType } from '../../workflows/deployment/messages.ts';
import { controlQueue } from '../../contracts/flush.ts';
import type { Host } from '../host.ts';

/** Before any Temporal worker runs: a foreign deployment must not be served, not even by accident. True when it was made. */
export async function ensureDeployment(client: Client, host: Host, home: string): Promise<boolean> {
  const found = await describeDeployment(client);
  if (found === null) {
    await startDeployment(client, host.deploymentId);
    // Two stacks may start it at once on a shared server: whose it is, the memo tells.
    await ensureDeployment(client, host, home);
    return true;
  }
  if (found.status !== 'RUNNING' && found.status !== 'CONTINUED_AS_NEW') throw endedDeployment(found.status);
  if (found.owner !== host.deploymentId) throw foreignDeployment(found.owner, host.deploymentId, home);
  return false;
}

/** Before anything is changed in a namespace that may be somebody else's. */
export async function refuseForeign(client: Client, host: Host, home: string): Promise<void> {
  const found = await describeDeployment(client);
  if (found !== null && found.owner !== host.deploymentId)
    throw foreignDeployment(found.owner, host.deploymentId, home);
}

async function startDeployment(client: Client, deploymentId: string): Promise<void> {
  await client.workflow.start(deploymentType, {
    workflowId: deploymentWorkflowId,
    taskQueue: controlQueue,
    workflowTaskTimeout: workflowTaskTimeoutMs,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [{ deploymentId, createdAtMs: Date.now() }],
    memo: { deploymentId },
    staticSummary: `Deployment ${deploymentId}`,
    staticDetails: 'Hands out workspaces and the numbers of clusters and jobs. It lives for ever.',
  });
}

/** Whose a namespace is; null when it has no deployment, or is not there. */
export async function describeDeployment(client: Client): Promise<{ owner: string; status: string } | null> {
  try {
    const found = await client.workflow.getHandle(deploymentWorkflowId).describe();
    const owner = found.memo?.['deploymentId'];
    return { owner: typeof owner === 'string' ? owner : '(unknown)', status: found.status.name };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof NamespaceNotFoundError) return null;
    throw error;
  }
}

const foreignDeployment = (found: string, own: string, home: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `this Temporal namespace belongs to deployment ${found}, and ${home} to deployment ${own}; nothing was touched`,
    hint: `Use the home of ${found}, or another namespace (TEMPORAL_NAMESPACE).`,
  });

const endedDeployment = (status: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `the workflow "${deploymentWorkflowId}" has ended (${status}); a new one would give out numbers that are in use`,
    hint: 'It was ended from outside. Reset it in Temporal to an earlier point, or start with an empty home and namespace.',
  });

// What the first start of a home makes, and each later start checks: the ids of host and deployment, the deployment's
// workflow, the default workspace. It touches nothing when the server belongs to another deployment.
import { join } from 'node:path';

import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';
import { updateDeadlineMs, workflowTaskTimeoutMs } from '../domain/limits.ts';
import { randomId } from '../platform/ids.ts';
import {
  type CreateWorkspaceAnswer,
  type CreateWorkspaceItem,
  deploymentId as deploymentWorkflowId,
  deploymentMessages,
  deploymentType,
} from '../workflows/deployment/messages.ts';
import { controlQueue, type Flush, type FlushAnswer } from '../workflows/messages.ts';
import { readJson, writeJson } from './files.ts';

const hostFile = z.object({ hostId: z.string(), deploymentId: z.string() });
export type Host = z.infer<typeof hostFile>;

export const defaultWorkspace = 'default';

export async function loadHost(home: string): Promise<Host> {
  const path = join(home, 'host.json');
  const known = await readJson(path, hostFile);
  if (known !== null) return known;
  const host: Host = { hostId: randomId('host'), deploymentId: randomId('dep') };
  await writeJson(path, host);
  return host;
}

/** Before any Temporal worker of this stack runs: a foreign deployment must not be served, not even by accident. */
export async function ensureDeployment(client: Client, host: Host, home: string): Promise<void> {
  const found = await describeDeployment(client);
  if (found === null) {
    await startDeployment(client, host.deploymentId);
    // Two stacks may start it at once on a shared server: whose it is, the memo tells.
    return ensureDeployment(client, host, home);
  }
  if (found.status !== 'RUNNING' && found.status !== 'CONTINUED_AS_NEW') throw endedDeployment(found.status);
  if (found.owner !== host.deploymentId) throw foreignDeployment(found.owner, host.deploymentId, home);
}

/** Resolves once the workspace's workflow answers, which also proves that a Temporal worker does its work. */
export async function ensureWorkspace(client: Client, slug: string, signal: AbortSignal): Promise<void> {
  const item: CreateWorkspaceItem = { slug };
  await updateOne<CreateWorkspaceItem, CreateWorkspaceAnswer>(
    client,
    deploymentWorkflowId,
    deploymentMessages.createWorkspace,
    item,
    signal,
  );
}

/** One item through a grouped update. Repeated until the workflow is there and a Temporal worker answers for it. */
export async function updateOne<I, O>(
  client: Client,
  workflowId: string,
  update: string,
  item: I,
  signal: AbortSignal,
): Promise<O> {
  const handle = client.workflow.getHandle(workflowId);
  const deadline = Date.now() + answerWithinMs;
  for (;;) {
    try {
      const answer = await client.withDeadline(Date.now() + updateDeadlineMs, () =>
        handle.executeUpdate<FlushAnswer<O>, [Flush<I>]>(update, { args: [{ items: [item] }] }),
      );
      const [first] = answer.items;
      if (first === undefined) throw new Error(`${update} of ${workflowId} answered nothing`);
      if ('error' in first) throw new RopewalkError(first.error);
      return first.ok;
    } catch (error) {
      if (error instanceof RopewalkError || signal.aborted || Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** A cold Temporal worker that bundles its workflows first needs some of this. */
const answerWithinMs = 60_000;

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

async function describeDeployment(client: Client): Promise<{ owner: string; status: string } | null> {
  try {
    const found = await client.workflow.getHandle(deploymentWorkflowId).describe();
    const owner = found.memo?.['deploymentId'];
    return { owner: typeof owner === 'string' ? owner : '(unknown)', status: found.status.name };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
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

// What the first start of a home makes, and each later start checks, once a Temporal worker runs: the default workspace.
import type { Client } from '@temporalio/client';

import { RopewalkError } from '../domain/errors.ts';
import { updateDeadlineMs } from '../domain/limits.ts';
import {
  type CreateWorkspaceAnswer,
  type CreateWorkspaceItem,
  deploymentId as deploymentWorkflowId,
  deploymentMessages,
} from '../workflows/deployment/messages.ts';
import type { Flush, FlushAnswer } from '../contracts/flush.ts';

export const defaultWorkspace = 'default';

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

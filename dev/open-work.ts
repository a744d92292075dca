// What is open while the stack starts or stops. Never fails and never waits long: it only speeds things up or tells.
import type { Client } from '@temporalio/client';

import type { Holder } from '../domain/workspace/state.ts';
import { deploymentId, deploymentMessages, type DeploymentView } from '../workflows/deployment/messages.ts';
import { workspaceMessages, type WorkspaceView, workspaceWorkflowId } from '../workflows/workspace/messages.ts';

const answerWithinMs = 2_000;

/** Open jobs of all workspaces; 0 when no Temporal worker is there to say. */
export async function countOpen(client: Client): Promise<number> {
  return client.withDeadline(Date.now() + answerWithinMs, () => countJobs(client)).catch(() => 0);
}

/** Numbers of all open clusters and jobs; none when no Temporal worker is there to say. */
export async function listOpen(client: Client): Promise<Set<number>> {
  const holders = await client.withDeadline(Date.now() + answerWithinMs, () => openHolders(client)).catch(() => []);
  return new Set(holders.map((holder) => holder.number));
}

async function countJobs(client: Client): Promise<number> {
  return (await openHolders(client)).filter((holder) => holder.kind === 'job').length;
}

async function openHolders(client: Client): Promise<Holder[]> {
  const deployment = client.workflow.getHandle(deploymentId);
  const { workspaces } = await deployment.query<DeploymentView>(deploymentMessages.view);
  const holders = await Promise.all(
    workspaces.map(async (slug) => {
      const workspace = client.workflow.getHandle(workspaceWorkflowId(slug));
      const view = await workspace.query<WorkspaceView>(workspaceMessages.view);
      return view.holders;
    }),
  );
  return holders.flat();
}

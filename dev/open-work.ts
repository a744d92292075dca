// Counts what is open when the stack stops, only to tell its user that it will go on. Never fails and never waits long.
import type { Client } from '@temporalio/client';

import { deploymentId, deploymentMessages, type DeploymentView } from '../workflows/deployment/messages.ts';
import { workspaceMessages, type WorkspaceView, workspaceWorkflowId } from '../workflows/workspace/messages.ts';

const answerWithinMs = 2_000;

/** Open jobs of all workspaces; 0 when no Temporal worker is there to say. */
export async function countOpen(client: Client): Promise<number> {
  return client.withDeadline(Date.now() + answerWithinMs, () => countJobs(client)).catch(() => 0);
}

async function countJobs(client: Client): Promise<number> {
  const deployment = client.workflow.getHandle(deploymentId);
  const { workspaces } = await deployment.query<DeploymentView>(deploymentMessages.view);
  const counts = await Promise.all(
    workspaces.map(async (slug) => {
      const workspace = client.workflow.getHandle(workspaceWorkflowId(slug));
      const { holders } = await workspace.query<WorkspaceView>(workspaceMessages.view);
      return holders.filter((holder) => holder.kind === 'job').length;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

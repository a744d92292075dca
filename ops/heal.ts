// Asks the healing now, as the schedule does: it decides, in a Temporal worker, with the memory that the schedule's runs have.
import type { Client } from '@temporalio/client';

import { workflowTaskTimeoutMs } from '../domain/limits.ts';
import { deploymentId as deploymentWorkflowId } from '../workflows/deployment/messages.ts';
import { healDryRunId, type HealInput, healNowId, type HealReport, healType } from '../workflows/heal/messages.ts';
import { controlQueue } from '../workflows/messages.ts';

/** Null when the namespace has no deployment, or no Temporal worker is there to look. */
export async function healNow(client: Client, dryRun: boolean): Promise<HealReport | null> {
  const deploymentId = await deploymentOf(client);
  if (deploymentId === null || !(await hasWorker(client))) return null;
  const handle = await client.workflow.start<(input: HealInput) => Promise<HealReport>>(healType, {
    workflowId: dryRun ? healDryRunId : healNowId,
    taskQueue: controlQueue,
    workflowTaskTimeout: workflowTaskTimeoutMs,
    workflowRunTimeout: waitMs,
    // Somebody else may have just asked the same.
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ deploymentId, dryRun }],
    staticSummary: `${dryRun ? 'Dry run of the healing' : 'Healing'}, asked for by hand`,
  });
  return handle.result();
}

const waitMs = 60_000;

async function deploymentOf(client: Client): Promise<string | null> {
  const described = await client.workflow
    .getHandle(deploymentWorkflowId)
    .describe()
    .catch(() => null);
  const id = described?.memo?.['deploymentId'];
  return typeof id === 'string' ? id : null;
}

async function hasWorker(client: Client): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: controlQueue },
    taskQueueType: workflowTaskQueue,
  });
  return (pollers ?? []).some(
    ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < recentMs,
  );
}

/** Of the protocol's enumeration. */
const workflowTaskQueue = 1;
/** A poll lasts a minute; the server remembers pollers for some. */
const recentMs = 90_000;

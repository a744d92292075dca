// Asks the healing now, as the schedule does: it decides, in a Temporal worker, with the memory that the schedule's runs have.
import type { Client } from '@temporalio/client';

import { workflowTaskTimeoutMs } from '../domain/limits.ts';
import { healDryRunId, type HealInput, healNowId, type HealReport, healType } from '../contracts/heal.ts';
import { controlQueue } from '../contracts/flush.ts';
import { namespaceOwner } from './init/claim.ts';
import { hasPoller } from './pollers.ts';

/** Null when the namespace has no deployment, or no Temporal worker is there to look. */
export async function healNow(client: Client, dryRun: boolean): Promise<HealReport | null> {
  const deploymentId = await namespaceOwner(client);
  if (deploymentId === null || !(await hasPoller(client, controlQueue, 'workflows'))) return null;
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

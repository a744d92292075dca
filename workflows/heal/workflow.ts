// One healing: look at all open workflows, and reset those that a known fault stopped. It gives up rather than wait for
// long: the next run begins anew.
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';

import type { HealActivities } from '../../contracts/activities.ts';
import type { HealInput, HealReport } from '../../contracts/heal.ts';

export async function heal({ deploymentId, dryRun }: HealInput): Promise<HealReport> {
  const report = await control.healStandstills.executeWithOptions(
    { summary: `look for workflows of ${deploymentId} that stand still` },
    [{ deploymentId, dryRun }],
  );
  setCurrentDetails(describe(report));
  return report;
}

function describe({ refusal, looked, unknown, healed }: HealReport): string {
  if (refusal !== null) return `Nothing was looked at: ${refusal}.`;
  const head = `Looked at ${looked}, could not look at ${unknown.length}, found ${healed.length} standing still.`;
  return [head, '', ...healed.map(({ workflowId, outcome, text }) => `- **${workflowId}** ${outcome}: ${text}`)].join(
    '\n',
  );
}

const control = proxyActivities<HealActivities>({
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '200ms', maximumInterval: '5s' },
});

// One check for stuck workflows: resets those that a known fault has stopped and reports the others. Its activity has a short timeout, because the
// next run starts over.
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';

import type { StuckWorkflowActivities } from '../../contracts/activities.ts';
import type { StuckWorkflowsInput, StuckWorkflowsReport } from '../../contracts/stuck-workflows.ts';

export async function stuckWorkflows({ deploymentId, autoReset }: StuckWorkflowsInput): Promise<StuckWorkflowsReport> {
  const report = await control.resetStuckWorkflows.executeWithOptions({ summary: 'check all open workflows' }, [
    { deploymentId, autoReset },
  ]);
  setCurrentDetails(describe(report));
  return report;
}

function describe({ refusal, checked, unknown, stuck }: StuckWorkflowsReport): string {
  if (refusal !== null) return `Nothing was checked: ${refusal}.`;
  const head = `Checked ${checked}, could not check ${unknown.length}, found ${stuck.length} stuck.`;
  return [head, '', ...stuck.map(({ workflowId, outcome, text }) => `- **${workflowId}** ${outcome}: ${text}`)].join(
    '\n',
  );
}

const control = proxyActivities<StuckWorkflowActivities>({
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '200ms', maximumInterval: '5s' },
});

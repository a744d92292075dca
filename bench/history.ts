// The history size of a workflow, over all of its runs.
import type { Client } from '@temporalio/client';

export interface HistorySize {
  events: number;
  bytes: number;
  runs: number;
}

export async function historySize(client: Client, workflowId: string): Promise<HistorySize> {
  const size = { events: 0, bytes: 0, runs: 0 };
  const { workflowService } = client.connection;
  const { namespace } = client.options;
  // From the first run forward: each names its successor.
  let runId = (await client.workflow.getHandle(workflowId).describe()).raw.workflowExecutionInfo?.firstRunId ?? '';
  while (runId !== '') {
    const execution = { workflowId, runId };
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({ namespace, execution });
    size.events += Number(workflowExecutionInfo?.historyLength ?? 0);
    size.bytes += Number(workflowExecutionInfo?.historySizeBytes ?? 0);
    size.runs += 1;
    const { history } = await workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution,
      maximumPageSize: 1,
    });
    runId = history?.events?.[0]?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  }
  return size;
}

// The input size of a workflow's runs: for all but the first, the state that was carried over.
import type { Client } from '@temporalio/client';

export async function carriedBytes(client: Client, workflowId: string): Promise<number> {
  const { workflowService } = client.connection;
  const { namespace } = client.options;
  let largest = 0;
  let runId = (await client.workflow.getHandle(workflowId).describe()).raw.workflowExecutionInfo?.firstRunId ?? '';
  while (runId !== '') {
    const execution = { workflowId, runId };
    const asked = { namespace, execution, maximumPageSize: 1 };
    const first = await workflowService.getWorkflowExecutionHistory(asked);
    const payloads = first.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    largest = Math.max(largest, ...payloads.map(({ data }) => data?.length ?? 0));
    const last = await workflowService.getWorkflowExecutionHistoryReverse(asked);
    runId = last.history?.events?.[0]?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  }
  return largest;
}

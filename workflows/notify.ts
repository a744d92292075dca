// Signals from one workflow to another.
import { getExternalWorkflowHandle, log } from '@temporalio/workflow';

/** Signals another workflow. A workflow that has already ended is no error. */
export async function notify(workflowId: string, signal: string, body: object): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(signal, body);
  } catch (error) {
    log.info('a workflow could not be signalled', { workflowId, signal, error: String(error) });
  }
}

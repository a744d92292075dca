// Starts a workflow from a workflow: abandoned, because continue-as-new closes the parent's run, and at most once per id.
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';

import type { WorkflowStart } from '../contracts/start.ts';

/** Resolves when the child has started, also if it was started earlier. */
export async function startAbandoned({ type, workflowId, input, options }: WorkflowStart): Promise<void> {
  try {
    const parentClosePolicy = ParentClosePolicy.ABANDON;
    await startChild(type, { ...options, workflowId, args: [input], parentClosePolicy });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

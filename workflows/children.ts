// How a workflow starts another: abandoned, because continuing as new closes the parent's run, and never twice under one id.
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';

import type { WorkflowStart } from '../contracts/start.ts';

/** Resolves when the child has started, also if it had started before. */
export async function startAbandoned({ type, workflowId, input, options }: WorkflowStart): Promise<void> {
  try {
    const parentClosePolicy = ParentClosePolicy.ABANDON;
    await startChild(type, { ...options, workflowId, args: [input], parentClosePolicy });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

// How every workflow of ours starts another: abandoned, never twice under one id, with a short workflow task timeout,
// and readable in the Temporal UI.
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, WorkflowIdReusePolicy, startChild } from '@temporalio/workflow';

import { workflowTaskTimeoutMs } from '../domain/limits.ts';
import { statusKey, userKey, workspaceKey } from '../contracts/search-attributes.ts';

export interface ChildStart {
  type: string;
  workflowId: string;
  input: object;
  workspace: string;
  user: string;
  admissionId: string;
  summary: string;
  details: string;
}

/** Resolves when the child has started; `already there` when the id is taken, by whom the memo tells. */
export async function startAbandoned(child: ChildStart): Promise<'started' | 'already there'> {
  try {
    await startChild(child.type, {
      workflowId: child.workflowId,
      args: [child.input],
      // A parent that continues as new is a closed parent: any other policy would end its children.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: workflowTaskTimeoutMs,
      memo: { admissionId: child.admissionId },
      staticSummary: child.summary,
      staticDetails: child.details,
      typedSearchAttributes: [
        { key: workspaceKey, value: child.workspace },
        { key: userKey, value: child.user },
        { key: statusKey, value: 'pending' },
      ],
    });
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already there';
    throw error;
  }
}

// Runs a scheduled workflow at once, for an operator's command, and waits for its report.
import { type Client, WorkflowFailedError } from '@temporalio/client';

import { controlQueue } from '../contracts/flush.ts';
import { RopewalkError } from '../domain/errors.ts';
import { workflowTaskTimeoutMs } from '../domain/workflow-limits.ts';

export interface RunNow<I> {
  type: string;
  workflowId: string;
  input: I;
  /** Time limit of the run, in milliseconds. */
  waitMs: number;
  /** Shown in the Temporal UI. */
  summary: string;
}

/** Joins a run of the same id that another operator has just started. Rejects with WorkflowFailedError when the run fails. */
export async function runNow<I, R>(
  client: Client,
  { type, workflowId, input, waitMs, summary }: RunNow<I>,
): Promise<R> {
  const handle = await client.workflow.start<(input: I) => Promise<R>>(type, {
    workflowId,
    taskQueue: controlQueue,
    workflowTaskTimeout: workflowTaskTimeoutMs,
    workflowRunTimeout: waitMs,
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [input],
    staticSummary: summary,
  });
  const report: R = await handle.result();
  return report;
}

/** The user-facing error of a failed run; every other error unchanged. `what`: "the sweep of local/host". */
export function unfinished(error: unknown, { what, hint }: { what: string; hint: string }): unknown {
  if (!(error instanceof WorkflowFailedError)) return error;
  const reason = error.cause?.cause ?? error.cause;
  const why = reason instanceof Error ? reason.message : error.message;
  return new RopewalkError({ code: 'UNAVAILABLE', message: `${what} did not finish: ${why}`, hint }, { cause: error });
}

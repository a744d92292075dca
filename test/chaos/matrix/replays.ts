// The result of a replay of an ended workflow, against the result of the workflow itself. Temporal compares the commands alone: a
// state that diverged with the same commands would show too late. Times are not compared: a task that was processed in two steps,
// after a worker's death, has two times, and its replay the later one (temporalio/sdk-rust issue 1146).
import { WorkflowNotFoundError } from '@temporalio/common';

import { clusterMessages, clusterWorkflowId } from '../../../contracts/cluster.ts';
import type { ClusterView } from '../../../contracts/cluster.ts';
import { jobMessages, jobWorkflowId } from '../../../contracts/job.ts';
import type { JobView } from '../../../contracts/job.ts';
import { eventually } from '../../support/eventually.ts';
import type { Bed } from './bed.ts';
import { stepWithinMs } from './life.ts';

export const jobReplays = (bed: Bed, number: number): Promise<void> =>
  replaysTheSame<JobView>(bed, jobWorkflowId(number), jobMessages.view, ({ status, tasks, reason }) => [
    ...[status, tasks, reason?.code, reason?.text],
  ]);

export const clusterReplays = (bed: Bed, number: number): Promise<void> =>
  replaysTheSame<ClusterView>(bed, clusterWorkflowId(number), clusterMessages.view, (view) => [
    ...[view.status, view.launched, view.terminated, view.reason?.code, view.reason?.text],
  ]);

/** A query of a closed workflow is a replay when its worker has been killed since, or when another worker answers. */
async function replaysTheSame<V>(
  { temporal }: Bed,
  workflowId: string,
  query: string,
  essence: (view: V) => unknown[],
): Promise<void> {
  const handle = temporal.workflow.getHandle<() => Promise<V>>(workflowId);
  const ended = await handle.result().catch((error: unknown) => {
    // A job that was cancelled before it had a cluster has no such workflow.
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  });
  if (ended === null) return;
  const result = JSON.stringify(essence(ended));
  const ask = (): Promise<V | null> =>
    handle.query<V>(query).catch((error: unknown) => {
      // The same fault of the SDK: such a history has no replay, and an ended workflow needs none.
      if (String(error).includes('[TMPRL1100]')) return null;
      throw error;
    });
  const replayed = await eventually(async () => ({ view: await ask() }), { timeoutMs: stepWithinMs, intervalMs: 300 });
  if (replayed.view === null) return;
  if (JSON.stringify(essence(replayed.view)) === result) return;
  throw new Error(`${workflowId} ended as ${result}, and its replay as ${JSON.stringify(essence(replayed.view))}`);
}

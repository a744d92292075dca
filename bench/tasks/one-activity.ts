// Runs the comparison on the same Temporal server as the rest of the bench, with a separate Temporal worker.
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { NativeConnection } from '@temporalio/worker';

import { historySize } from '../history.ts';
import type { HistorySize } from '../history.ts';
import type { oneActivityPerTask } from './one-activity-workflow.ts';

export interface OneActivityResult {
  seconds: number;
  size: HistorySize;
}

export async function runOneActivityPerTask(
  { client, connection }: { client: Client; connection: NativeConnection },
  tasks: number,
): Promise<OneActivityResult> {
  const { namespace } = client.options;
  const taskQueue = 'bench-one-activity';
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowsPath: new URL('one-activity-workflow.ts', import.meta.url).pathname,
    activities: { nothing: () => Promise.resolve() },
  });
  const running = worker.run();
  try {
    const workflowId = `bench-one-activity-${Date.now()}`;
    const startedAtMs = performance.now();
    await client.workflow.execute<typeof oneActivityPerTask>('oneActivityPerTask', {
      workflowId,
      taskQueue,
      args: [{ from: 0, to: tasks }],
    });
    const seconds = (performance.now() - startedAtMs) / 1000;
    return { seconds, size: await historySize(client, workflowId) };
  } finally {
    worker.shutdown();
    await running;
  }
}

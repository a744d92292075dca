// Whether somebody works on a task queue.
import type { Client } from '@temporalio/client';

/** Of the protocol's enumeration. */
const queueTypes = { workflows: 1, activities: 2 } as const;
/** A poll lasts a minute; the server remembers pollers for some. */
const recentMs = 90_000;

export async function hasPoller(client: Client, queue: string, type: keyof typeof queueTypes): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: queue },
    taskQueueType: queueTypes[type],
  });
  return (pollers ?? []).some(
    ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < recentMs,
  );
}

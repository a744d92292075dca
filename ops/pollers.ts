// Whether a Temporal worker polls a task queue.
import type { Client } from '@temporalio/client';

/** Values of the protocol's enumeration. */
const queueTypes = { workflows: 1, activities: 2 } as const;
type QueueType = keyof typeof queueTypes;

/** A poll lasts a minute; the server remembers pollers for some minutes. */
const recentMs = 90_000;

export async function hasPoller(client: Client, queue: string, type: QueueType): Promise<boolean> {
  const pollers = await listPollers(client, queue, type);
  return pollers.some(({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < recentMs);
}

/** Whether this process polls: the SDK's worker identity is `{pid}@{host}`. */
export async function isPolledBy(client: Client, { queue, pid }: { queue: string; pid: number }): Promise<boolean> {
  const pollers = await listPollers(client, queue, 'workflows');
  return pollers.some(({ identity }) => identity?.startsWith(`${pid}@`) === true);
}

async function listPollers(client: Client, queue: string, type: QueueType) {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: queue },
    taskQueueType: queueTypes[type],
  });
  return pollers ?? [];
}

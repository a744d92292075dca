// The jobs and clusters in the tests of every cloud, and the conditions that they wait for.
import type { Client } from '../../sdk/client.ts';
import { eventually } from './eventually.ts';

/** Six tasks; each prints its id and leaves a file of that name in `marks`. */
export const printingJob = (marks: string) => ({
  command: [
    'sh',
    '-c',
    'echo "task $ROPEWALK_BATCH_TASK_ID on $ROPEWALK_INSTANCE"; touch "$MARKS/$ROPEWALK_BATCH_TASK_ID"',
  ],
  env: { MARKS: marks },
  ntasks: 6,
  maxWorkers: 3,
  allowSshFrom: '203.0.113.7',
});

/** The sorted output of `printingJob`'s tasks, once all of it can be read; `instance` matches the ids of the cloud. */
export async function printedBy(client: Client, job: number, instance: RegExp): Promise<string[]> {
  const printed = await eventually(async () => {
    const lines = [];
    for await (const line of client.jobs.logs(job)) if (line.task !== null) lines.push(line.text);
    return lines.length === 6 ? lines : null;
  });
  return printed.map((line) => line.replace(new RegExp(` on ${instance.source}$`), '')).sort();
}

export const everyTaskPrinted = [0, 1, 2, 3, 4, 5].map((id) => `task ${id}`);

/** Two tasks that run until the file `go` exists in `marks`. */
export const heldJob = (marks: string) => ({
  command: ['sh', '-c', 'while [ ! -e "$MARKS/go" ]; do sleep 0.2; done'],
  env: { MARKS: marks },
  ntasks: 2,
  lease: 3,
});

export const bothTasksRun = (client: Client, job: number): Promise<boolean> =>
  eventually(async () => ((await client.jobs.get(job)).tasks.running === 2 ? true : null));

/** The cluster, once both workers have started. */
export const daskStarted = (client: Client, number: number) =>
  eventually(
    async () => {
      const seen = await client.clusters.get(number);
      if (seen.endedAt !== null) throw new Error(JSON.stringify(seen.reason));
      return seen.dask?.workersStarted === 2 ? seen : null;
    },
    { timeoutMs: 150_000 },
  );

/** Waits until the cluster has lost the instance and both workers have started without it. */
export const workerReplaced = (client: Client, number: number, instance: string): Promise<boolean> =>
  eventually(
    async () => {
      const seen = await client.clusters.get(number);
      const ids = seen.instances.map(({ id }) => id);
      return !ids.includes(instance) && seen.dask?.workersStarted === 2 ? true : null;
    },
    { timeoutMs: 90_000 },
  );

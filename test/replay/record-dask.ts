// Records the histories of Dask clusters, from a stack of their own with a real scheduler and real workers: one that is scaled
// out and in and stopped, and one that scales by itself, loses a worker and ends as idle.
import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { makeDaskHome } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids } from '../support/kills.ts';
import { removeHome, startStack } from '../support/stack.ts';
import { connectTemporal, saveHistory } from './history-files.ts';

export async function recordDask(): Promise<void> {
  const home = await makeDaskHome();
  try {
    const stack = await startStack({ home });
    try {
      const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
      const { server, close } = await connectTemporal(stack);
      await saveHistory(server, `cluster/${await scaleAndStop(client)}`, 'dask-scaled-and-stopped');
      await saveHistory(server, `cluster/${await endByItself(client, home)}`, 'dask-adaptive-until-idle');
      await close();
    } finally {
      await stack.stop();
    }
  } finally {
    await removeHome(home);
  }
}

/** Up to two workers, and down to one, which drains the other. */
async function scaleAndStop(client: Client): Promise<number> {
  const { number } = await client.clusters.create({ name: 'scaled', workers: 1 });
  await started(client, number, 1);
  await client.clusters.scale(number, 2);
  await started(client, number, 2);
  await client.clusters.scale(number, 1);
  await eventually(async () => (await client.clusters.get(number)).instances.length === 2);
  await client.clusters.stop(number);
  await over(client, number);
  return number;
}

/** Adaptive with at least one worker, whose first one is killed; then the cluster is idle for a while. */
async function endByItself(client: Client, home: string): Promise<number> {
  const { number } = await client.clusters.create({ name: 'adaptive', workers: 0, idleTimeout: '20 seconds' });
  await started(client, number, 0);
  await client.clusters.adapt(number, { minimum: 1, maximum: 2 });
  const { instances } = await started(client, number, 1);
  const worker = instances.find(({ role }) => role === 'worker')?.id ?? '';
  const pid = agentPids(home).get(worker);
  if (pid === undefined) throw new Error(`no agent of ${worker} is running`);
  process.kill(pid, 'SIGKILL');
  await over(client, number);
  return number;
}

function started(client: Client, number: number, workers: number): ReturnType<Client['clusters']['get']> {
  return eventually(
    async () => {
      const cluster = await client.clusters.get(number);
      return cluster.status === 'ready' && cluster.dask?.workersStarted === workers ? cluster : null;
    },
    { timeoutMs: 120_000 },
  );
}

async function over(client: Client, number: number): Promise<void> {
  await eventually(async () => (await client.clusters.get(number)).endedAt !== null, { timeoutMs: 90_000 });
}

// Waits for states of a Dask cluster.
import type { Client, Cluster } from '../../sdk/client.ts';
import { eventually } from './eventually.ts';

/** With this many workers started. A cluster that ends earlier fails the test. */
export const clusterReady = (client: Client, number: number, workers: number): Promise<Cluster> =>
  eventually(
    async () => {
      const cluster = await client.clusters.get(number);
      if (cluster.status === 'error' || cluster.status === 'stopped') throw new Error(JSON.stringify(cluster.reason));
      return cluster.status === 'ready' && cluster.dask?.workersStarted === workers ? cluster : null;
    },
    { timeoutMs: 90_000, intervalMs: 100 },
  );

/** Its end is in the list, and with it name and limits are free: the cluster's own view ends before that. */
export async function clusterEnded(client: Client, number: number): Promise<Cluster> {
  await eventually(
    async () => {
      for await (const open of client.clusters.list({ open: true })) if (open.number === number) return null;
      return true;
    },
    { timeoutMs: 150_000, intervalMs: 100 },
  );
  return client.clusters.get(number);
}

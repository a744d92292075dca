// Which instances a cluster has, by id; of an ended one those that it had when its end was decided, because its view has none.
import type { Client, Cluster } from '../sdk/client.ts';

export interface KnownInstance {
  id: string;
  isHead: boolean;
  state: string;
  address: string | null;
  /** Of its Dask process. */
  name: string | null;
}

export async function instancesOf(
  client: Client,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly KnownInstance[]> {
  const { number, name, job, endedAt, reason } = cluster;
  if (endedAt === null) {
    return cluster.instances.map(({ id, role, state, address, process }) => ({
      ...{ id, isHead: role === 'head', state, address: address ?? null, name: process?.name ?? null },
    }));
  }
  const { instances } = await client.clusters.at(number, reason?.at ?? endedAt, { signal });
  return instances.map(({ id, role, state }) => {
    const isHead = role === 'head';
    return { id, isHead, state, address: null, name: job === null ? processName(name, id, isHead) : null };
  });
}

const processName = (cluster: string, id: string, isHead: boolean): string =>
  isHead ? 'scheduler' : workerName(cluster, id);

/** As agents name their workers: agent/dask/worker-name.ts, which a test compares. */
export const workerName = (cluster: string, instance: string): string =>
  `${cluster}-worker-${instance.startsWith('i-') ? instance.slice(2) : instance.slice(-8)}`;

// Creates a cluster, or finds the open one of its name. An ending cluster keeps its name until it has ended, and cannot be used:
// its end is waited for.
import type { CreateCluster } from '../schema/clusters.ts';
import { ClusterTimeoutError } from './cluster-errors.ts';
import { type ClusterWaitOptions, defaultTimeoutMs, isEnding } from './cluster-wait.ts';
import type { ClustersApi } from './clusters.ts';
import { sleep } from './sleep.ts';

type Created = Awaited<ReturnType<ClustersApi['create']>>;

const pauseMs = 500;

/** Throws the errors of `clusters.create`, and ClusterTimeoutError while the earlier cluster of that name still ends. */
export async function createUsable(
  clusters: Pick<ClustersApi, 'create' | 'get'>,
  input: CreateCluster,
  {
    signal,
    timeoutMs = defaultTimeoutMs,
    pollMs = pauseMs,
  }: Pick<ClusterWaitOptions, 'signal' | 'timeoutMs' | 'pollMs'>,
): Promise<Created> {
  const sinceMs = Date.now();
  const options = { ...(signal && { signal }) };
  for (;;) {
    const created = await clusters.create(input, options);
    if (!created.existing) return created;
    const cluster = await clusters.get(created.number, options);
    if (!isEnding(cluster)) return created;
    if (Date.now() - sinceMs > timeoutMs) {
      const text = `cluster ${cluster.number} is still ending and keeps the name ${cluster.name} until then`;
      throw new ClusterTimeoutError(cluster, text);
    }
    await sleep(Math.min(pollMs, pauseMs), signal);
  }
}

// Waiting for a cluster in front of someone: progress on stderr, the cluster as it is then on stdout.
import type { Client, Cluster, ClusterWaitOptions } from '../sdk/client.ts';
import { formatFailure, groupFailures } from '../sdk/client.ts';
import { formatCluster } from './clusters.ts';
import type { CliContext, FormatFlag } from './context.ts';

/** Resolves when the cluster is there as asked, perhaps with fewer workers than that: then the reasons are told. */
export async function watchCluster(
  wait: (options: ClusterWaitOptions) => Promise<Cluster>,
  { output }: CliContext,
  { format }: FormatFlag,
  options: { signal: AbortSignal; timeoutMs?: number | undefined },
): Promise<void> {
  const cluster = await wait(waitOptions({ output }, options));
  if (format === 'json') output.json(cluster);
  else output.out(formatCluster(cluster));
  if ((cluster.dask?.workersErrored ?? 0) === 0) return;
  for (const failure of groupFailures(cluster)) output.err(formatFailure(failure));
}

export function waitOptions(
  { output }: Pick<CliContext, 'output'>,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs?: number | undefined },
): ClusterWaitOptions {
  return {
    signal,
    ...(timeoutMs !== undefined && { timeoutMs }),
    onProgress: (cluster) => output.progress(formatCluster(cluster)),
    onUnreachable: (error) => output.progress(`Still trying: ${error.message}`),
  };
}

/** After a count of workers was asked for: until every worker has started or failed. */
export function untilScaled(
  client: Client,
  number: number,
  workers: number,
): (options: ClusterWaitOptions) => Promise<Cluster> {
  const asked = { workers, atMs: Date.now() };
  return (options) => client.clusters.waitForWorkers(number, true, { ...options, asked });
}

export function clusterGoesOn(number: number): string {
  return `Detached: cluster ${number} goes on. Come back with: ropewalk cluster get ${number}`;
}

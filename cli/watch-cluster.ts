// Waits for a cluster: progress on stderr, as a live panel on a terminal and in lines elsewhere; the final view on stdout.
import type { Client, Cluster, ClusterWaitOptions } from '../sdk/client.ts';
import { formatFailure, groupFailures } from '../sdk/client.ts';
import { formatPanel } from './cluster-panel.ts';
import { formatCluster } from './clusters.ts';
import type { CliContext, FormatFlag } from './context.ts';
import type { Output } from './output.ts';

/** Resolves when `wait` does. When workers have failed, their reasons are printed on stderr. */
export async function watchCluster(
  wait: (options: ClusterWaitOptions) => Promise<Cluster>,
  { output }: CliContext,
  { format }: FormatFlag,
  options: { signal: AbortSignal; timeoutMs?: number | undefined },
): Promise<void> {
  const cluster = await wait(waitOptions({ output }, options)).finally(() => output.keepPanel());
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
    onProgress: (cluster) => showProgress(output, cluster),
    onUnreachable: (error) => output.progress(`Retrying: ${error.message}`),
  };
}

/**
 * A job's cluster has no Dask workers to show. The line includes the reason of a wait for capacity, because waiting does not
 * help against an account's quota.
 */
export function showProgress(output: Output, cluster: Cluster): void {
  const screen = cluster.job === null ? output.screen() : null;
  const why = cluster.waitingForCapacity ? `: ${cluster.waitingForCapacity.text}` : '';
  if (screen === null) output.progress(`${formatCluster(cluster)}${why}`);
  else output.panel(formatPanel(cluster, screen));
}

/** Waits after a scale request until every worker has started or failed. */
export function untilScaled(
  client: Client,
  number: number,
  workers: number,
): (options: ClusterWaitOptions) => Promise<Cluster> {
  const requested = { workers, atMs: Date.now() };
  return (options) => client.clusters.waitForWorkers(number, true, { ...options, requested });
}

export function detachedFromCluster(number: number): string {
  return `Detached: cluster ${number} continues. To see it: ropewalk cluster get ${number}`;
}

/// <reference lib="esnext.disposable" preserve="true" />
// One cluster in the hands of a program: started, used, and stopped when the program is done with it.
import type { Cluster, CreateCluster, Credentials } from '../schema/clusters.ts';
import type { LogLine } from '../schema/jobs.ts';
import type { ClusterWaitOptions, WorkerAmount } from './cluster-wait.ts';
import type { ClusterEvent, ClustersApi, Duration } from './clusters.ts';
import { createClustersApi } from './clusters.ts';
import type { EventOptions } from './events.ts';
import type { ConnectionOptions } from './connection.ts';
import { resolveConnection } from './connection.ts';
import type { CallOptions } from './jobs.ts';
import type { ClusterLogOptions } from './logs.ts';
import { createRequest } from './request.ts';

export type StartClusterOptions = CreateCluster &
  ConnectionOptions &
  ClusterWaitOptions & {
    /** How many workers to wait for; 0.3 of all unless given, `false` to wait for none. */
    waitForWorkers?: WorkerAmount;
    /** Whether `close` stops the cluster; true unless it existed before. */
    shutdownOnClose?: boolean;
    /** Called once with the number, before waiting: enough to come back to the cluster later. */
    onCreated?: (created: { number: number; name: string; existing: boolean; warnings: string[] }) => void;
  };

/** Methods throw what those of `client.clusters` throw. */
export interface ClusterHandle extends AsyncDisposable {
  readonly number: number;
  readonly name: string;
  /** True when an open cluster of that name was there already. */
  readonly existing: boolean;
  /** Options that have no effect, in sentences. */
  readonly warnings: readonly string[];
  get(options?: CallOptions): Promise<Cluster>;
  scale(workers: number, options?: CallOptions): Promise<void>;
  adapt(range: { minimum: number; maximum: number } | null, options?: CallOptions): Promise<void>;
  /** Also of workers that a `scale` just before it asked for. See ClustersApi. */
  waitForWorkers(amount?: WorkerAmount, options?: ClusterWaitOptions): Promise<Cluster>;
  /** Waits for the scheduler, if need be. Whoever holds these can run code on the cluster. */
  credentials(options?: ClusterWaitOptions): Promise<Credentials>;
  /** Good for minutes: open it, do not keep it. */
  dashboardUrl(options?: CallOptions): Promise<string>;
  logs(options?: ClusterLogOptions): AsyncGenerator<LogLine, void, undefined>;
  events(options?: EventOptions): AsyncGenerator<ClusterEvent, void, undefined>;
  keepalive(timeout?: Duration, options?: CallOptions): Promise<void>;
  /** Asks the cluster to end, whoever started it. */
  stop(options?: CallOptions): Promise<void>;
  /** The end of this program's use: stops the cluster unless it existed before or `shutdownOnClose` says otherwise. */
  close(): Promise<void>;
}

/**
 * Starts a Dask cluster and waits for its first workers. Throws what `clusters.create` and `clusters.waitForWorkers` throw;
 * a cluster that was started here and whose workers did not come, or were no longer waited for, is asked to stop.
 *
 * ```ts
 * await using cluster = await startCluster({ apiUrl, token, workers: 2 });
 * const { schedulerAddress, ca, certificate, key } = await cluster.credentials();
 * await cluster.scale(4);
 * await cluster.waitForWorkers(true);
 * // Leaving the block, by return or by throw, stops the cluster.
 * ```
 */
export async function startCluster(options: StartClusterOptions): Promise<ClusterHandle> {
  const { apiUrl, token, fetch, signal, timeoutMs, pollMs, onProgress, onUnreachable, ...rest } = options;
  const { waitForWorkers: amount, shutdownOnClose, onCreated, ...input } = rest;
  const clusters = createClustersApi(createRequest(resolveConnection({ apiUrl, token, fetch })));
  const created = await clusters.create(input, { ...(signal && { signal }) });
  const handle = createHandle(clusters, created, shutdownOnClose ?? !created.existing);
  try {
    onCreated?.(created);
    await handle.waitForWorkers(amount, {
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(pollMs !== undefined && { pollMs }),
      ...(onProgress && { onProgress }),
      ...(onUnreachable && { onUnreachable }),
    });
    return handle;
  } catch (error) {
    // The reason is what the caller needs to know; what cannot be stopped now ends by its own rules.
    await handle.close().catch(() => undefined);
    throw error;
  }
}

function createHandle(
  clusters: ClustersApi,
  { number, name, existing, warnings }: { number: number; name: string; existing: boolean; warnings: string[] },
  stopOnClose: boolean,
): ClusterHandle {
  let asked: { workers: number; atMs: number } | undefined;
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    if (!stopOnClose) return;
    closing ??= clusters.stop(number).catch((error: unknown) => {
      // Closing again tries again.
      closing = null;
      throw error;
    });
    await closing;
  };
  return {
    number,
    name,
    existing,
    warnings,
    get: (options) => clusters.get(number, options),
    scale: async (workers, options) => {
      await clusters.scale(number, workers, options);
      asked = { workers, atMs: Date.now() };
    },
    adapt: async (range, options) => {
      await clusters.adapt(number, range, options);
      asked = undefined;
    },
    waitForWorkers: (amount, options = {}) => clusters.waitForWorkers(number, amount, { ...options, asked }),
    credentials: async (options = {}) => {
      await clusters.waitForScheduler(number, options);
      return clusters.credentials(number, { ...(options.signal && { signal: options.signal }) });
    },
    dashboardUrl: async (options) => (await clusters.dashboardLink(number, options)).url,
    logs: (options) => clusters.logs(number, options),
    events: (options) => clusters.events(number, options),
    keepalive: (timeout, options) => clusters.keepalive(number, timeout, options),
    stop: (options) => clusters.stop(number, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/// <reference lib="esnext.disposable" preserve="true" />
// A handle for a program that starts a cluster, uses it, and stops it at the end.
import type { Cluster, CreateCluster, Credentials } from '../schema/clusters.ts';
import type { LogLine } from '../schema/jobs.ts';
import type { ClusterWaitOptions, WorkerAmount } from './cluster-wait.ts';
import type { ClusterEvent } from '../schema/events.ts';
import type { ClustersApi, Duration } from './clusters.ts';
import { createClustersApi } from './clusters.ts';
import type { ClusterEventOptions } from './events.ts';
import type { ConnectionOptions } from './connection.ts';
import { resolveConnection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type { ClusterLogOptions } from './logs.ts';
import { createResolveSources } from './own-address.ts';
import { createRequest } from './request.ts';
import { createUsable } from './usable-cluster.ts';

export type StartClusterOptions = CreateCluster &
  ConnectionOptions &
  ClusterWaitOptions & {
    /** Workers to wait for: 0.3 of all by default; `false` waits for none. */
    waitForWorkers?: WorkerAmount;
    /** Whether `close` stops the cluster. By default it does, unless the cluster existed before. */
    shutdownOnClose?: boolean;
    /** Called once with the cluster's number, before waiting. Store it to find the cluster again. */
    onCreated?: (created: { number: number; name: string; existing: boolean; warnings: string[] }) => void;
  };

/** Each method throws the errors of the method of the same name in `client.clusters`. */
export interface ClusterHandle extends AsyncDisposable {
  readonly number: number;
  readonly name: string;
  /** True when an open cluster of that name existed before. */
  readonly existing: boolean;
  /** One sentence for each option that has no effect. */
  readonly warnings: readonly string[];
  get(options?: CallOptions): Promise<Cluster>;
  scale(workers: number, options?: CallOptions): Promise<void>;
  adapt(range: { minimum: number; maximum: number } | null, options?: CallOptions): Promise<void>;
  /** Also waits for workers that a preceding `scale` requested. See ClustersApi. */
  waitForWorkers(amount?: WorkerAmount, options?: ClusterWaitOptions): Promise<Cluster>;
  /** Waits for the scheduler if needed. The credentials allow running code on the cluster. */
  credentials(options?: ClusterWaitOptions): Promise<Credentials>;
  /** A link that is valid for minutes: open it, do not store it. */
  dashboardUrl(options?: CallOptions): Promise<string>;
  /** A link to its Jupyter server, when it was started with `jupyter: true`. It signs its opener in, and is valid for minutes. */
  jupyterUrl(options?: CallOptions): Promise<string>;
  logs(options?: ClusterLogOptions): AsyncGenerator<LogLine, void, undefined>;
  events(options?: ClusterEventOptions): AsyncGenerator<ClusterEvent, void, undefined>;
  keepalive(timeout?: Duration, options?: CallOptions): Promise<void>;
  /** Stops the cluster, even when it existed before. */
  stop(options?: CallOptions): Promise<void>;
  /** Ends this program's use: stops the cluster if `shutdownOnClose` is true. */
  close(): Promise<void>;
}

/**
 * Starts a Dask cluster and waits for its first workers; while an earlier cluster of the same name ends, it waits for that end.
 * Throws the errors of `clusters.create` and `clusters.waitForWorkers`. When the wait fails or is aborted, the new cluster is
 * stopped.
 *
 * ```ts
 * await using cluster = await startCluster({ workers: 2 });
 * const { schedulerAddress, ca, certificate, key } = await cluster.credentials();
 * await cluster.scale(4);
 * await cluster.waitForWorkers(true);
 * // Leaving the block, by `return` or by an error, stops the cluster.
 * ```
 */
export async function startCluster(options: StartClusterOptions): Promise<ClusterHandle> {
  const { apiUrl, token, addressUrl, fetch, signal, timeoutMs, pollMs, onProgress, onUnreachable, ...rest } = options;
  const { waitForWorkers: amount, shutdownOnClose, onCreated, ...input } = rest;
  const connection = resolveConnection({ apiUrl, token, addressUrl, fetch });
  const clusters = createClustersApi(createRequest(connection), createResolveSources(connection));
  const created = await createUsable(clusters, input, {
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(pollMs !== undefined && { pollMs }),
  });
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
    // The caller needs the first error. A cluster that cannot be stopped now ends by its own timeouts.
    await handle.close().catch(() => undefined);
    throw error;
  }
}

function createHandle(
  clusters: ClustersApi,
  { number, name, existing, warnings }: { number: number; name: string; existing: boolean; warnings: string[] },
  stopOnClose: boolean,
): ClusterHandle {
  let requested: { workers: number; atMs: number } | undefined;
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    if (!stopOnClose) return;
    closing ??= clusters.stop(number).catch((error: unknown) => {
      // The next `close` tries again.
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
      requested = { workers, atMs: Date.now() };
    },
    adapt: async (range, options) => {
      await clusters.adapt(number, range, options);
      requested = undefined;
    },
    waitForWorkers: (amount, options = {}) => clusters.waitForWorkers(number, amount, { ...options, requested }),
    credentials: async (options = {}) => {
      await clusters.waitForScheduler(number, options);
      return clusters.credentials(number, { ...(options.signal && { signal: options.signal }) });
    },
    dashboardUrl: async (options) => (await clusters.dashboardLink(number, options)).url,
    jupyterUrl: async (options) => (await clusters.jupyterLink(number, options)).url,
    logs: (options) => clusters.logs(number, options),
    events: (options) => clusters.events(number, options),
    keepalive: (timeout, options) => clusters.keepalive(number, timeout, options),
    stop: (options) => clusters.stop(number, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}

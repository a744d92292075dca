// Clusters: a Dask scheduler and its workers, or the instances of a job. Create, read, scale and stop them.
import type {
  AdaptCluster,
  Cluster,
  CreateCluster,
  CreatedCluster,
  Credentials,
  DashboardLink,
} from '../schema/clusters.ts';
import type { CostOverTime } from '../schema/costs.ts';
import type { ClusterAt } from '../schema/history.ts';
import type { LogLine } from '../schema/jobs.ts';
import type { Plan } from '../schema/plans.ts';
import type { ClusterWaitOptions, WorkerAmount, WorkersWaitOptions } from './cluster-wait.ts';
import { defaultAmount, waitForEnd, waitForScheduler, waitForWorkers } from './cluster-wait.ts';
import { createOwn } from './create-own.ts';
import type { Configuration } from '../schema/configuration.ts';
import type { ClusterEvent } from '../schema/events.ts';
import type { Why } from '../schema/why.ts';
import type { ClusterEventOptions } from './events.ts';
import { readEvents } from './events.ts';
import type { CallOptions, CreateOptions, Filter, ListOptions } from './options.ts';
import { timeText } from './times.ts';
import { findIn, listOf } from './lists.ts';
import type { ClusterLogOptions } from './logs.ts';
import { readClusterLogs } from './logs.ts';
import type { ResolveSources } from './own-address.ts';
import type { Paged } from './pages.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

/** A number of seconds, or text as Dask reads it: `5 minutes`, `90s`. */
export type Duration = number | string;

export interface ClusterListOptions extends ListOptions, Filter {
  status?: Cluster['status'] | readonly Cluster['status'][];
  /** `job`: clusters of jobs; `dask`: the others. Default: both. */
  kind?: 'dask' | 'job';
}

export interface ClustersApi {
  /**
   * Starts a Dask cluster, or returns the open cluster of that name (`existing`) unless `getOrCreate` is false.
   * `privateToCreator` forbids other users to connect. An instance that gets no answer from the API for `watchdogTimeout` ends itself.
   * Throws ValidationError, ConflictError (`NAME_TAKEN`), RateLimitError (`LIMIT_EXCEEDED`).
   */
  create(input?: CreateCluster, options?: CreateOptions): Promise<CreatedCluster>;
  /** The instances that `create` would launch, and their price per hour. Launches nothing. Throws ValidationError. */
  plan(input?: CreateCluster, options?: CallOptions): Promise<Plan>;
  /** Throws NotFoundError. A job's cluster has the job's number. */
  get(number: number, options?: CallOptions): Promise<Cluster>;
  /** The open cluster of that name, or null. A job's cluster has the job's name. */
  find(name: string, options?: CallOptions): Promise<Cluster | null>;
  /** Newest first, including the clusters of jobs. */
  list(options?: ClusterListOptions): Paged<Cluster>;
  /** Requests this many workers; surplus ones are drained first. Throws ConflictError for a job's cluster or an ending one. */
  scale(number: number, workers: number, options?: CallOptions): Promise<void>;
  /** Scales the cluster with its load, within this range of workers; null turns adaptive scaling off. */
  adapt(
    number: number,
    range: (AdaptCluster & { minimum: number; maximum: number }) | null,
    options?: CallOptions,
  ): Promise<void>;
  /** Reports a client. With `timeout`, the cluster ends that long after its last client or keepalive. */
  keepalive(number: number, timeout?: Duration, options?: CallOptions): Promise<void>;
  /** Stops the cluster and terminates its instances; a job that runs on it ends too. Throws NotFoundError. */
  stop(number: number, options?: CallOptions): Promise<void>;
  /**
   * A new client certificate for the cluster, which the API does not store. It allows running code on the cluster.
   * Throws ServerError (`NOT_YET`) before the scheduler has started, PermissionError for another user's private cluster.
   */
  credentials(number: number, options?: CallOptions): Promise<Credentials>;
  /** A link to the Dask dashboard. It signs its opener in, and is valid for minutes. */
  dashboardLink(number: number, options?: CallOptions): Promise<DashboardLink>;
  /**
   * A link to the Jupyter server of a cluster that was created with `jupyter: true`. It signs its opener in, and is valid for
   * minutes; it allows running code on the cluster. Throws ConflictError for a cluster without Jupyter, PermissionError
   * without the scope `write` and for another user's private cluster.
   */
  jupyterLink(number: number, options?: CallOptions): Promise<DashboardLink>;
  /** Output of the scheduler and the workers, with `agents` also of the agents; the lines of each instance are in order. */
  logs(number: number, options?: ClusterLogOptions): AsyncGenerator<LogLine, void, undefined>;
  /**
   * Why the cluster runs or waits, is not larger, has its instance types, or has stopped. Throws PermissionError for another
   * user's private cluster.
   */
  why(number: number, options?: CallOptions): Promise<Why>;
  /** The requested instance types, limits and software, without secrets. */
  configuration(number: number, options?: CallOptions): Promise<Configuration>;
  /**
   * The cluster's cost over time, in US dollars, at equal intervals since its first instance. Throws PermissionError for
   * another user's private cluster.
   */
  costs(number: number, options?: CallOptions): Promise<CostOverTime>;
  /**
   * The state of the cluster, open or ended, at a past time (a Date, an RFC 3339 time, or an age: `20 minutes`): status,
   * instances with their stages, workers, events, cost. Throws ValidationError for a time before its start or in the future.
   */
  at(number: number, time: Date | string, options?: CallOptions): Promise<ClusterAt>;
  /** Events of the cluster, oldest first, with the user who caused each; of ended clusters too. `since` reads the newer ones. */
  events(number: number, options?: ClusterEventOptions): AsyncGenerator<ClusterEvent, void, undefined>;
  /**
   * Resolves when that many workers (by default 0.3 of all) have started, or when every worker has started or failed and at
   * least one has started: check `dask.workersStarted`. Throws ClusterFailedError, with the grouped reasons, when the cluster
   * ends or every worker failed, and ClusterTimeoutError.
   */
  waitForWorkers(number: number, amount?: WorkerAmount, options?: WorkersWaitOptions): Promise<Cluster>;
  /** Resolves when clients can connect. Throws ClusterFailedError and ClusterTimeoutError. */
  waitForScheduler(number: number, options?: ClusterWaitOptions): Promise<Cluster>;
  /** Resolves when the cluster is `stopped` or `error` and has no instance left. Throws ClusterTimeoutError. */
  waitForEnd(number: number, options?: ClusterWaitOptions): Promise<Cluster>;
}

export function createClustersApi(request: SendRequest, resolveSources: ResolveSources): ClustersApi {
  const path = (number: number, rest = ''): string => `/v1/clusters/${number}${rest}`;
  const get = (number: number, { signal }: CallOptions = {}): Promise<Cluster> =>
    requestJson<Cluster>(request, { method: 'GET', path: path(number), signal });
  const read =
    (number: number) =>
    (signal: AbortSignal | undefined): Promise<Cluster> =>
      get(number, { ...(signal && { signal }) });
  /** Safe to repeat: each of these requests a desired state, not a change. */
  const send = async (number: number, verb: string, body: unknown, { signal }: CallOptions = {}): Promise<void> => {
    const response = await request({ method: 'POST', path: path(number, `/${verb}`), body, signal });
    await response.body?.cancel();
  };
  return {
    get,
    create: async (given = {}, { signal, idempotencyKey } = {}) => {
      const input = await resolveSources(given, signal);
      const post = (body: CreateCluster, key: string) =>
        requestJson<CreatedCluster>(request, {
          method: 'POST',
          path: '/v1/clusters',
          body,
          idempotencyKey: key,
          signal,
        });
      if (idempotencyKey !== undefined) return post(input, idempotencyKey);
      const mayExist = input.name !== undefined && input.getOrCreate !== false;
      return createOwn((how, key) => post({ ...input, ...how }, key), mayExist);
    },
    plan: async (input = {}, { signal } = {}) => {
      const body = await resolveSources(input, signal);
      return requestJson<Plan>(request, { method: 'POST', path: '/v1/plans/clusters', body, signal });
    },
    find: (name, options) => findIn<Cluster>(request, '/v1/clusters', name, options),
    list: (options) => listOf<Cluster>(request, '/v1/clusters', options),
    scale: (number, workers, options) => send(number, 'scale', { workers }, options),
    adapt: (number, range, options) => send(number, 'adapt', range ?? {}, options),
    keepalive: (number, timeout, options) =>
      send(number, 'keepalive', timeout === undefined ? {} : { timeout }, options),
    stop: (number, options) => send(number, 'stop', undefined, options),
    credentials: (number, { signal } = {}) =>
      requestJson<Credentials>(request, { method: 'GET', path: path(number, '/credentials'), signal }),
    dashboardLink: (number, { signal } = {}) =>
      requestJson<DashboardLink>(request, { method: 'POST', path: path(number, '/dashboard-link'), signal }),
    jupyterLink: (number, { signal } = {}) =>
      requestJson<DashboardLink>(request, { method: 'POST', path: path(number, '/jupyter-link'), signal }),
    logs: (number, options = {}) => readClusterLogs(request, path(number, '/logs'), options),
    why: (number, { signal } = {}) => requestJson<Why>(request, { method: 'GET', path: path(number, '/why'), signal }),
    configuration: (number, { signal } = {}) =>
      requestJson<Configuration>(request, { method: 'GET', path: path(number, '/configuration'), signal }),
    costs: (number, { signal } = {}) =>
      requestJson<CostOverTime>(request, { method: 'GET', path: path(number, '/costs'), signal }),
    at: (number, time, { signal } = {}) => {
      const query = { time: timeText(time) };
      return requestJson<ClusterAt>(request, { method: 'GET', path: path(number, '/at'), query, signal });
    },
    events: (number, options = {}) => readEvents<ClusterEvent>(request, path(number, '/events'), options),
    waitForWorkers: (number, amount = defaultAmount, options = {}) => waitForWorkers(read(number), amount, options),
    waitForScheduler: (number, options = {}) => waitForScheduler(read(number), options),
    waitForEnd: (number, options = {}) => waitForEnd(read(number), options),
  };
}

// Clusters: a Dask scheduler and its workers, or the instances behind a job. Start them, look at them, scale and stop them.
import type { Cluster, CreateCluster, CreatedCluster, Credentials, DashboardLink } from '../schema/clusters.ts';
import type { LogLine } from '../schema/jobs.ts';
import type { Plan } from '../schema/plans.ts';
import type { ClusterWaitOptions, WorkerAmount, WorkersWaitOptions } from './cluster-wait.ts';
import { defaultAmount, waitForEnd, waitForScheduler, waitForWorkers } from './cluster-wait.ts';
import { createOwn } from './create-own.ts';
import type { EventOptions } from './events.ts';
import { readEvents } from './events.ts';
import type { CallOptions, CreateOptions, Filter, ListOptions } from './jobs.ts';
import { findIn, listOf } from './jobs.ts';
import type { ClusterLogOptions } from './logs.ts';
import { readLogs } from './logs.ts';
import type { Paged } from './pages.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export type ClusterEvent = Cluster['events'][number];

/** Seconds, or words as Dask takes them: `5 minutes`, `90s`. */
export type Duration = number | string;

export interface ClusterListOptions extends ListOptions, Filter {
  status?: Cluster['status'] | readonly Cluster['status'][];
  /** `job`: those that run the tasks of a job; `dask`: the others. Both unless given. */
  kind?: 'dask' | 'job';
}

export interface ClustersApi {
  /**
   * Starts a Dask cluster, or answers with the open one of that name (`existing`), unless `getOrCreate` is false.
   * With `privateToCreator` nobody else may connect; an instance that nobody has answered for `deadMan` ends by itself.
   * Throws ValidationError, ConflictError (`NAME_TAKEN`), RateLimitError (`LIMIT_EXCEEDED`).
   */
  create(input?: CreateCluster, options?: CreateOptions): Promise<CreatedCluster>;
  /** What `create` would launch, and what it would cost an hour; launches nothing. Throws ValidationError. */
  plan(input?: CreateCluster, options?: CallOptions): Promise<Plan>;
  /** Throws NotFoundError. A job's cluster has the job's number. */
  get(number: number, options?: CallOptions): Promise<Cluster>;
  /** The open cluster of that name, or null. A job's cluster has the job's name. */
  find(name: string, options?: CallOptions): Promise<Cluster | null>;
  /** Newest first, those of jobs included. */
  list(options?: ClusterListOptions): Paged<Cluster>;
  /** Asks for this many workers; those too many are drained first. Throws ConflictError for a job's or an ending one. */
  scale(number: number, workers: number, options?: CallOptions): Promise<void>;
  /** Lets the cluster follow its work between two counts of workers; null turns that off. */
  adapt(number: number, range: { minimum: number; maximum: number } | null, options?: CallOptions): Promise<void>;
  /** Says that somebody is there. With `timeout`, the cluster ends that long after its last client or keepalive. */
  keepalive(number: number, timeout?: Duration, options?: CallOptions): Promise<void>;
  /** Asks a cluster to end all its instances; a job that still runs on it does not go on. Throws NotFoundError. */
  stop(number: number, options?: CallOptions): Promise<void>;
  /**
   * A client certificate for the cluster, made for this call and stored nowhere: whoever holds it can run code there.
   * Throws ServerError (`NOT_YET`) before the scheduler has started, PermissionError when it is somebody's own.
   */
  credentials(number: number, options?: CallOptions): Promise<Credentials>;
  /** A link to the Dask dashboard that signs in whoever opens it within minutes. */
  dashboardLink(number: number, options?: CallOptions): Promise<DashboardLink>;
  /** What the scheduler, the workers and the agents wrote; each instance's lines in order. */
  logs(number: number, options?: ClusterLogOptions): AsyncGenerator<LogLine, void, undefined>;
  /** What happened to the cluster, oldest first; the newest few dozen are kept. */
  events(number: number, options?: EventOptions): AsyncGenerator<ClusterEvent, void, undefined>;
  /**
   * Resolves when that many workers (0.3 of all, unless given) have started; or when every worker has started or failed
   * and some have started: look at `dask.workersStarted`. Throws ClusterFailedError, with the grouped reasons, when the
   * cluster ends or no worker can come any more, and ClusterTimeoutError.
   */
  waitForWorkers(number: number, amount?: WorkerAmount, options?: WorkersWaitOptions): Promise<Cluster>;
  /** Resolves when clients can connect. Throws ClusterFailedError and ClusterTimeoutError. */
  waitForScheduler(number: number, options?: ClusterWaitOptions): Promise<Cluster>;
  /** Resolves when the cluster is `stopped` or `error` and has no instance left. Throws ClusterTimeoutError. */
  waitForEnd(number: number, options?: ClusterWaitOptions): Promise<Cluster>;
}

export function createClustersApi(request: SendRequest): ClustersApi {
  const path = (number: number, rest = ''): string => `/v1/clusters/${number}${rest}`;
  const get = (number: number, { signal }: CallOptions = {}): Promise<Cluster> =>
    requestJson<Cluster>(request, { method: 'GET', path: path(number), signal });
  const look =
    (number: number) =>
    (signal: AbortSignal | undefined): Promise<Cluster> =>
      get(number, { ...(signal && { signal }) });
  /** Asking twice is the same as asking once: all of these say what should be, not what should change. */
  const ask = async (number: number, verb: string, body: unknown, { signal }: CallOptions = {}): Promise<void> => {
    const response = await request({ method: 'POST', path: path(number, `/${verb}`), body, signal });
    await response.body?.cancel();
  };
  return {
    get,
    create: (input = {}, { signal, idempotencyKey } = {}) => {
      const send = (body: CreateCluster, key: string) =>
        requestJson<CreatedCluster>(request, {
          method: 'POST',
          path: '/v1/clusters',
          body,
          idempotencyKey: key,
          signal,
        });
      if (idempotencyKey !== undefined) return send(input, idempotencyKey);
      const mayExist = input.name !== undefined && input.getOrCreate !== false;
      return createOwn((how, key) => send({ ...input, ...how }, key), mayExist);
    },
    plan: (input = {}, { signal } = {}) =>
      requestJson<Plan>(request, { method: 'POST', path: '/v1/plans/clusters', body: input, signal }),
    find: (name, options) => findIn<Cluster>(request, '/v1/clusters', name, options),
    list: (options) => listOf<Cluster>(request, '/v1/clusters', options),
    scale: (number, workers, options) => ask(number, 'scale', { workers }, options),
    adapt: (number, range, options) => ask(number, 'adapt', range ?? {}, options),
    keepalive: (number, timeout, options) =>
      ask(number, 'keepalive', timeout === undefined ? {} : { timeout }, options),
    stop: (number, options) => ask(number, 'stop', undefined, options),
    credentials: (number, { signal } = {}) =>
      requestJson<Credentials>(request, { method: 'GET', path: path(number, '/credentials'), signal }),
    dashboardLink: (number, { signal } = {}) =>
      requestJson<DashboardLink>(request, { method: 'POST', path: path(number, '/dashboard-link'), signal }),
    logs: (number, options = {}) => readLogs(request, path(number, '/logs'), options),
    events: (number, options = {}) => readEvents<ClusterEvent>(request, path(number, '/events'), options),
    waitForWorkers: (number, amount = defaultAmount, options = {}) => waitForWorkers(look(number), amount, options),
    waitForScheduler: (number, options = {}) => waitForScheduler(look(number), options),
    waitForEnd: (number, options = {}) => waitForEnd(look(number), options),
  };
}

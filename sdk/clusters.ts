// Clusters: the instances behind jobs. Read them, stop them.
import type { Cluster } from '../schema/clusters.ts';
import type { CallOptions, ListOptions } from './jobs.ts';
import { listOf } from './jobs.ts';
import type { Paged } from './pages.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface ClustersApi {
  /** Throws NotFoundError. A job's cluster has the job's number. */
  get(number: number, options?: CallOptions): Promise<Cluster>;
  list(options?: ListOptions): Paged<Cluster>;
  /** Asks a cluster to end all its instances; a job that still runs on it does not go on. Throws NotFoundError. */
  stop(number: number, options?: CallOptions): Promise<void>;
}

export function createClustersApi(request: SendRequest): ClustersApi {
  return {
    get: (number, { signal } = {}) =>
      requestJson<Cluster>(request, { method: 'GET', path: `/v1/clusters/${number}`, signal }),
    list: (options) => listOf<Cluster>(request, '/v1/clusters', options),
    stop: async (number, { signal } = {}) => {
      const response = await request({ method: 'POST', path: `/v1/clusters/${number}/stop`, signal });
      await response.body?.cancel();
    },
  };
}

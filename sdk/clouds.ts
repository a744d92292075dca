// The clouds of a control plane and their health.
import type { Cloud, CloudList } from '../schema/clouds.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface CloudsApi {
  /**
   * The clouds, the workspace's accounts there, and the latest findings of their checks. Throws PermissionError without the
   * scope admin.
   */
  list(options?: CallOptions): Promise<Cloud[]>;
  /**
   * Checks a cloud now: its credentials, whether it would launch (by dry run), whether instances reach the API.
   *
   * ```ts
   * const { checks } = await client.clouds.check(name);
   * ```
   */
  check(cloud: string, options?: CallOptions): Promise<Cloud>;
}

export const createCloudsApi = (request: SendRequest): CloudsApi => ({
  list: async ({ signal } = {}) =>
    (await requestJson<CloudList>(request, { method: 'GET', path: '/v1/clouds', signal })).items,
  check: (cloud, { signal } = {}) =>
    requestJson<Cloud>(request, { method: 'POST', path: '/v1/cloud-checks', body: { cloud }, signal }),
});

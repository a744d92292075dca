// Instance types that the control plane can launch.
import type { InstanceType, InstanceTypeList, InstanceTypesQuery } from '../schema/instance-types.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface InstanceTypesApi {
  /**
   * Instance types, cheapest first, with approximate prices in US dollars per hour. Throws ValidationError for an unknown
   * provider.
   */
  list(query?: InstanceTypesQuery, options?: CallOptions): Promise<InstanceType[]>;
}

export function createInstanceTypesApi(request: SendRequest): InstanceTypesApi {
  return {
    async list(query = {}, { signal } = {}) {
      const { items } = await requestJson<InstanceTypeList>(request, {
        method: 'GET',
        path: '/v1/instance-types',
        query,
        signal,
      });
      return items;
    },
  };
}

// Costs of the workspace.
import type { Costs, CostsQuery } from '../schema/costs.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface CostsApi {
  /**
   * The cost of the workspace's instances in US dollars, by default by user and over the last 30 days. `since` is an RFC 3339
   * time, or an age: `7 days`. Throws ValidationError for an invalid `since`.
   *
   * ```ts
   * const { items, total } = await client.costs.read({ by: 'day', since: '7 days' });
   * ```
   */
  read(query?: Partial<CostsQuery>, options?: CallOptions): Promise<Costs>;
}

export const createCostsApi = (request: SendRequest): CostsApi => ({
  read: (query = {}, { signal } = {}) =>
    requestJson<Costs>(request, { method: 'GET', path: '/v1/costs', query, signal }),
});

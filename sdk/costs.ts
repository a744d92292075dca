// What was spent.
import type { Costs, CostsQuery } from '../schema/costs.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface CostsApi {
  /**
   * What the workspace's instances have cost, in US dollars, by user unless `by` says otherwise, of the last 30 days unless
   * `since` (an RFC 3339 time, or how long ago: `7 days`) says otherwise. Throws ValidationError for a wrong `since`.
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

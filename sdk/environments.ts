// Named environments (`softwareName` of a cluster or a job).
import type { EnvironmentDetails, EnvironmentPage, NamedEnvironment, PutEnvironment } from '../schema/environments.ts';
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface EnvironmentsApi {
  /**
   * Points the name to this software or container; safe to repeat. Running clusters and jobs keep their content. Throws
   * ValidationError, and RateLimitError when the workspace has too many names.
   */
  set(name: string, content: PutEnvironment, options?: CallOptions): Promise<NamedEnvironment>;
  /** By name, one page at a time: pass `next` as `after`. */
  list(query?: { after?: string; limit?: number }, options?: CallOptions): Promise<EnvironmentPage>;
  /** Throws NotFoundError. */
  get(name: string, options?: CallOptions): Promise<EnvironmentDetails>;
  /** Throws NotFoundError. */
  delete(name: string, options?: CallOptions): Promise<NamedEnvironment>;
}

export function createEnvironmentsApi(request: SendRequest): EnvironmentsApi {
  const path = (name: string): string => `/v1/environments/${encodeURIComponent(name)}`;
  return {
    set: (name, body, { signal } = {}) => requestJson(request, { method: 'PUT', path: path(name), body, signal }),
    list: (query = {}, { signal } = {}) =>
      requestJson(request, { method: 'GET', path: '/v1/environments', query, signal }),
    get: (name, { signal } = {}) => requestJson(request, { method: 'GET', path: path(name), signal }),
    delete: (name, { signal } = {}) => requestJson(request, { method: 'DELETE', path: path(name), signal }),
  };
}

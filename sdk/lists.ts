// Lists with their common paging, and the search by name in them.
import type { Filter, ListOptions, CallOptions } from './options.ts';
import type { Page, Paged } from './pages.ts';
import { createPaged } from './pages.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

/** Any list route, because all of them page alike. */
export function listOf<T>(request: SendRequest, path: string, options: ListOptions & AnyFilter = {}): Paged<T> {
  const { limit, signal, after: first, status, since, until, search: q, ...rest } = options;
  const statuses = status === undefined || typeof status === 'string' ? status : status.join(',');
  const query = { ...rest, limit, status: statuses, since: timeText(since), until: timeText(until), q };
  const fetchPage = (after: string | undefined): Promise<Page<T>> =>
    requestJson<Page<T>>(request, { method: 'GET', path, query: { ...query, after }, signal });
  return createPaged(fetchPage, first);
}

type AnyFilter = Filter & { status?: string | readonly string[]; kind?: string; state?: string; event?: string };

const timeText = (time: Date | string | undefined): string | undefined =>
  time instanceof Date ? time.toISOString() : time;

export async function findIn<T>(
  request: SendRequest,
  path: string,
  name: string,
  { signal }: CallOptions = {},
): Promise<T | null> {
  const { items } = await listOf<T>(request, path, { name, open: true, limit: 1, ...(signal && { signal }) });
  return items[0] ?? null;
}

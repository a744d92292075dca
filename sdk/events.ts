// Events of a job or a cluster, as lines. Each answer of the API has all kept events; those already yielded are skipped.
import type { FollowOptions } from './follow.ts';
import { followLines } from './follow.ts';
import type { SendRequest } from './request.ts';

export interface EventOptions extends FollowOptions {
  /** Only events from this time on. */
  since?: Date | string;
}

export function readEvents<T extends { at: string }>(
  request: SendRequest,
  path: string,
  options: EventOptions,
): AsyncGenerator<T, void, undefined> {
  const since = options.since === undefined ? undefined : new Date(options.since).toISOString();
  return followLines<T>(request, { path, query: () => ({ since }), keyOf: () => '' }, options);
}

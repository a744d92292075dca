// Events of a job or a cluster, as lines. Each answer of the API has all kept events; those already yielded are skipped.
import type { FollowOptions } from './follow.ts';
import { followLines } from './follow.ts';
import type { SendRequest } from './request.ts';

export interface EventOptions extends FollowOptions {
  /** Only events from this time on. */
  since?: Date | string;
}

/** A page of a cluster's events: the next one is after the `seq` of the last event. */
export interface ClusterEventOptions extends EventOptions {
  /** Only events with greater numbers (`seq`). */
  after?: number;
  /** At most so many events; a followed answer ends after them. */
  limit?: number;
}

export function readEvents<T extends { at: string }>(
  request: SendRequest,
  path: string,
  options: ClusterEventOptions,
): AsyncGenerator<T, void, undefined> {
  const since = options.since === undefined ? undefined : new Date(options.since).toISOString();
  const { after, limit } = options;
  return followLines<T>(request, { path, query: () => ({ since, after, limit }), keyOf: () => '' }, options);
}

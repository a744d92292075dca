// The output of a job's tasks, or of a cluster's instances, as lines.
import type { LogLine } from '../schema/jobs.ts';
import type { FollowOptions } from './follow.ts';
import { followLines } from './follow.ts';
import type { SendRequest } from './request.ts';

export interface LogOptions extends FollowOptions {
  /** Task ids, as numbers or in array syntax (`2,4-6`); by default all tasks. */
  tasks?: readonly number[] | string;
  /** Only lines from this time on. */
  since?: Date | string;
}

export interface ClusterLogOptions extends FollowOptions {
  /** Only this instance's lines. */
  instance?: string;
  /** Only lines from this time on. */
  since?: Date | string;
}

export function readLogs(
  request: SendRequest,
  path: string,
  options: LogOptions & ClusterLogOptions,
): AsyncGenerator<LogLine, void, undefined> {
  const { tasks, instance, since } = options;
  const ids = typeof tasks === 'string' ? tasks : tasks?.join(',');
  const start = since === undefined ? undefined : new Date(since).toISOString();
  const query = (resumeAt: string | undefined): Record<string, string | undefined> => ({
    tasks: ids,
    instance,
    since: later(resumeAt, start),
  });
  return followLines<LogLine>(request, { path, query, keyOf: fileOf }, options);
}

/** Output of an agent and of its Dask process are two files. The lines of each are in order. */
function fileOf({ instance, task, attempt, stream }: LogLine): string {
  return `${instance}/${task}/${attempt}/${stream === 'agent'}`;
}

/** The later of two ISO times in UTC; either can be missing. */
function later(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}

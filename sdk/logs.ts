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
  /** Also the messages of the instances: their `task` is null. */
  instances?: boolean;
}

export interface ClusterLogOptions extends FollowOptions {
  /** Only this instance's lines. */
  instance?: string;
  /** Only lines from this time on. */
  since?: Date | string;
  /** Also the messages of Ropewalk's agents: their `stream` is `agent`. */
  agents?: boolean;
}

/** The tasks' output, with `instances` also the instances' messages. */
export const readJobLogs = (request: SendRequest, path: string, options: LogOptions) =>
  selected(readLogs(request, path, options), ({ task }) => task !== null || options.instances === true);

/** The output of scheduler and workers, with `agents` also the agents' messages. */
export const readClusterLogs = (request: SendRequest, path: string, options: ClusterLogOptions) =>
  selected(readLogs(request, path, options), ({ stream }) => stream !== 'agent' || options.agents === true);

/** Reads all lines, because a followed stream continues after the last one. */
async function* selected(
  lines: AsyncGenerator<LogLine, void, undefined>,
  isWanted: (line: LogLine) => boolean,
): AsyncGenerator<LogLine, void, undefined> {
  for await (const line of lines) if (isWanted(line)) yield line;
}

function readLogs(
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

/** The output of an agent and of its Dask process are two files, each with its lines in order. */
function fileOf({ instance, task, attempt, stream }: LogLine): string {
  return `${instance}/${task}/${attempt}/${stream === 'agent'}`;
}

/** The later of two ISO times in UTC; either can be missing. */
function later(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}

// A job's output as it was printed, line by line.
import { RopewalkError } from '../../domain/errors.ts';
import { parseArray, type JobArray } from '../../domain/job/array.ts';
import type { LogLine as WireLine } from '../../schema/jobs.ts';
import type { JobView } from '../../contracts/job.ts';
import type { TaskIds } from '../../providers/provider.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { streamLines } from '../log-lines.ts';
import { arrayOfView } from './array-of-view.ts';

export interface LogsInput {
  number: number;
  tasks?: string | undefined;
  follow: boolean;
  since?: string | undefined;
  /** Aborts when the reader has left. */
  signal: AbortSignal;
}

/** Rejects before the first line for what can be known then: scope, number, task ids. */
export async function readLogs({ deps, actor }: Context, input: LogsInput): Promise<AsyncIterable<WireLine>> {
  requireScope(actor, 'read');
  const { view, record } = await deps.views.job(actor.workspace, input.number);
  requireCreator(actor, 'Job', record, 'may read its logs');
  const { number, follow, signal, since, tasks } = input;
  const hasEnded = () => deps.views.job(actor.workspace, number).then((read) => overStates.has(read.view.status));
  return streamLines(deps, {
    provider: view.provider,
    region: view.region ?? undefined,
    owner: { workspace: view.workspace, cluster: number },
    follow,
    since,
    signal,
    hasEnded,
    ...(tasks === undefined ? {} : { tasks: taskIds(tasks, view, await arrayOfView(deps, view)) }),
  });
}

const overStates = new Set<JobView['status']>(['done', 'error', 'cancelled']);

/** A job may have a million tasks: their ids are looked for in the array, and not collected. */
function taskIds(syntax: string, view: JobView, array: JobArray): TaskIds {
  const wanted = parseArray(syntax, 'tasks');
  for (let index = 0; index < wanted.count; index += 1) {
    const id = wanted.idAt(index);
    if (array.indexOf(id) !== null) continue;
    throw new RopewalkError({
      code: 'VALIDATION',
      field: 'tasks',
      message: `tasks: job ${view.number} has no task ${id}; it has ${view.array}.`,
    });
  }
  return { has: (id) => wanted.indexOf(id) !== null };
}

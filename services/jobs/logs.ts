// A job's output as printed, line by line.
import { parseArray } from '../../domain/job/array.ts';
import type { LogLine as WireLine } from '../../schema/jobs.ts';
import type { JobView } from '../../contracts/job.ts';
import type { TaskIds } from '../../providers/provider.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { streamLines } from '../log-lines.ts';
import { arrayOfView } from './array-of-view.ts';
import { requireTasks } from './known-tasks.ts';

export interface LogsInput {
  number: number;
  tasks?: string | undefined;
  follow: boolean;
  since?: string | undefined;
  /** Aborts when the reader has disconnected. */
  signal: AbortSignal;
}

/** Rejects before the first line for an invalid scope, number or task id. */
export async function readLogs(context: Context, input: LogsInput): Promise<AsyncIterable<WireLine>> {
  const { deps, actor } = context;
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
    ...(tasks === undefined ? {} : { tasks: await readTaskIds(context, tasks, view) }),
  });
}

const overStates = new Set<JobView['status']>(['done', 'error', 'cancelled']);

/** A job may have a million tasks, so ids are looked up in the array instead of collected. */
async function readTaskIds(context: Context, syntax: string, view: JobView): Promise<TaskIds> {
  const wanted = parseArray(syntax, 'tasks');
  await requireTasks(context, wanted, await arrayOfView(context.deps, view));
  return { has: (id) => wanted.indexOf(id) !== null };
}

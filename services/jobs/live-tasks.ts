// Reads a job's tasks from its workflow: open tasks, and records that are not in a page yet.
import { jobWorkflowId, type JobView, type OpenTasks } from '../../contracts/job.ts';
import { taskPageSize } from '../../domain/job/limits.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import type { Viewed } from '../views.ts';
import type { ArchivedJob } from './task-records.ts';

export async function findJob(
  { deps, actor }: Pick<Context, 'deps' | 'actor'>,
  number: number,
): Promise<Viewed<JobView>> {
  requireScope(actor, 'read');
  const seen = await deps.views.job(actor.workspace, number);
  requireCreator(actor, 'Job', seen.record, 'may see its tasks');
  return seen;
}

export interface LiveTasks<A> {
  /** At least as new as the answer. */
  view: JobView;
  archive: ArchivedJob;
  /** Null when all records are in the archive. Otherwise, a task that is not open has ended. */
  answer: A | null;
}

export async function readLive<A extends Pick<OpenTasks, 'pagesWritten' | 'ended'>, I = undefined>(
  deps: Deps,
  { view, record }: Viewed<JobView>,
  query: string,
  input?: I,
): Promise<LiveTasks<A>> {
  // The final view is written after the last page.
  if (record.state === 'ended') return archived(view);
  if (view.endedAtMs !== null && view.pagesWritten * taskPageSize >= view.tasks.total) return archived(view);
  const read = await deps.workflows.query<A | null, I | undefined>(jobWorkflowId(view.number), query, input);
  if (read.kind === 'value') {
    const { value: answer } = read;
    if (answer === null) return archived(view);
    const { ended, pagesWritten } = answer;
    return { view: ended === null ? view : { ...view, ...ended }, archive: archiveOf(view, pagesWritten), answer };
  }
  // The job has ended since its view was read: all records are in the archive, and the new view has the number of pages.
  deps.views.expire(view.number);
  return archived((await deps.views.job(view.workspace, view.number)).view);
}

const archived = (view: JobView): LiveTasks<never> => ({
  view,
  archive: archiveOf(view, view.pagesWritten),
  answer: null,
});

const archiveOf = ({ workspace, number, tasks }: JobView, pages: number): ArchivedJob => ({
  ...{ workspace, number, pages },
  tasks: tasks.total,
});

/** How a task without a record ended: with its job, or earlier, by a cancellation of some tasks. Null for a task that has not ended. */
export function endWithoutRecord<A>({
  view: { endedAtMs, reason, tasksCancelled, status },
  answer,
}: LiveTasks<A>): { atMs: number | null; text: string | null } | null {
  if (endedAtMs === null && (answer === null || tasksCancelled === undefined)) return null;
  const alone = endedAtMs === null || status === 'done' || reason?.code === 'TASKS_FAILED' ? tasksCancelled : undefined;
  return { atMs: alone?.atMs ?? endedAtMs, text: (alone ?? reason)?.text ?? null };
}

// A page of a job's tasks in the order of their index: what is over from the archive, what is open from the workflow.
import { parseArray } from '../../domain/job/array.ts';
import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageSize } from '../../domain/limits.ts';
import type { Task, TaskPage } from '../../schema/jobs.ts';
import { jobMessages, jobWorkflowId, type JobView, type OpenTasks, type TasksQueryInput } from '../../contracts/job.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { parseCursor } from '../list-query.ts';
import { timeOrNull } from '../to-wire.ts';

export async function listTasks(
  { deps, actor }: Context,
  { number, limit, after }: { number: number; limit: number; after?: string | undefined },
): Promise<TaskPage> {
  requireScope(actor, 'read');
  const { view, record } = await deps.views.job(actor.workspace, number);
  requireCreator(actor, 'Job', record, 'may see its tasks');
  const from = (parseCursor(after) ?? -1) + 1;
  const end = Math.min(from + limit, view.tasks.total);
  if (from >= end) return { items: [], next: null };

  const window = await readWindow(deps, view, from, end - from);
  const wanted = Array.from({ length: end - from }, (_, offset) => from + offset);
  const inHand = new Map(window.page.map((record) => [record.task, record]));
  const open = new Map(window.open.map((task) => [task.index, task]));
  const archived = await deps.taskRecords.find(
    { workspace: view.workspace, number, pages: window.pagesWritten },
    wanted.filter((index) => !inHand.has(index) && !open.has(index)),
  );
  const array = parseArray(view.array);
  const items = wanted.map((index): Task => {
    const record = inHand.get(index) ?? archived.get(index);
    const place = { id: array.idAt(index), index };
    return record === undefined ? { ...place, ...openTask(open.get(index)) } : { ...place, ...endedTask(record) };
  });
  return { items, next: end < view.tasks.total ? String(end - 1) : null };
}

type Window = Pick<OpenTasks, 'pagesWritten' | 'page' | 'open'>;

async function readWindow(deps: Deps, view: JobView, from: number, count: number): Promise<Window> {
  const asArchived: Window = { pagesWritten: view.pagesWritten, page: [], open: [] };
  if (view.endedAtMs !== null && view.pagesWritten * taskPageSize >= view.tasks.total) return asArchived;
  const read = await deps.workflows.query<OpenTasks | null, TasksQueryInput>(
    jobWorkflowId(view.number),
    jobMessages.tasks,
    { from, count },
  );
  if (read.kind === 'value') return read.value ?? asArchived;
  // It has ended since its view was read: now everything is in the archive, and the new view says how many pages.
  deps.views.expire(view.number);
  const { view: ended } = await deps.views.job(view.workspace, view.number);
  return { ...asArchived, pagesWritten: ended.pagesWritten };
}

const openTask = (task: OpenTasks['open'][number] | undefined): Omit<Task, 'id' | 'index'> => ({
  state: task?.state ?? 'pending',
  attempt: task?.attempt ?? 0,
  exitCode: null,
  signal: null,
  instance: task?.instance ?? null,
  startedAt: timeOrNull(task?.startedAtMs ?? null),
  endedAt: null,
  reason: null,
});

const endedTask = (record: TaskRecord): Omit<Task, 'id' | 'index'> => ({
  state: record.state,
  attempt: record.attempt,
  exitCode: record.exitCode,
  signal: record.signal,
  instance: record.instance,
  startedAt: timeOrNull(record.startedAtMs),
  endedAt: timeOrNull(record.endedAtMs),
  reason: record.reason,
});

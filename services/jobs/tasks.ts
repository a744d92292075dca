// A page of a job's tasks in the order of their index: ended ones from the archive, open ones from the workflow. A task that
// never ran has no record: it ended with its job.
import { parseArray } from '../../domain/job/array.ts';
import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageSize } from '../../domain/job/limits.ts';
import type { Task, TaskPage } from '../../schema/jobs.ts';
import { jobMessages, jobWorkflowId, type JobView, type OpenTasks, type TasksQueryInput } from '../../contracts/job.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { parseCursor } from '../list-query.ts';
import { timeOrNull } from '../to-wire.ts';
import type { Viewed } from '../views.ts';

export async function listTasks(
  { deps, actor }: Context,
  { number, limit, after }: { number: number; limit: number; after?: string | undefined },
): Promise<TaskPage> {
  requireScope(actor, 'read');
  const seen = await deps.views.job(actor.workspace, number);
  const { view, record } = seen;
  requireCreator(actor, 'Job', record, 'may see its tasks');
  const from = (parseCursor(after) ?? -1) + 1;
  const end = Math.min(from + limit, view.tasks.total);
  if (from >= end) return { items: [], next: null };

  const window = await readWindow(deps, seen, from, end - from);
  const wanted = Array.from({ length: end - from }, (_, offset) => from + offset);
  const inHand = new Map(window.page.map((record) => [record.task, record]));
  const open = new Map(window.open.map((task) => [task.index, task]));
  const archived = await deps.taskRecords.find(
    { workspace: view.workspace, number, pages: window.pagesWritten },
    wanted.filter((index) => !inHand.has(index) && !open.has(index)),
  );
  const array = parseArray(view.array);
  const items = wanted.map((index): Task => {
    const ended = inHand.get(index) ?? archived.records.get(index);
    const place = { id: array.idAt(index), index };
    if (ended !== undefined) return { ...place, ...endedTask(ended) };
    const task = open.get(index);
    if (task !== undefined) return { ...place, ...openTask(task) };
    return { ...place, ...(archived.unreadablePages > 0 ? unknown : neverRun(window)) };
  });
  return { items, next: end < view.tasks.total ? String(end - 1) : null };
}

interface Window extends Pick<OpenTasks, 'pagesWritten' | 'page' | 'open'> {
  /** Not older than what the window was read from. */
  view: JobView;
  /** As the workflow says: a task that is not open has ended. */
  isLive: boolean;
}

async function readWindow(deps: Deps, seen: Viewed<JobView>, from: number, count: number): Promise<Window> {
  const { view, record } = seen;
  const asArchived: Window = { view, isLive: false, pagesWritten: view.pagesWritten, page: [], open: [] };
  // The final view is written after the last page.
  if (record.state === 'ended') return asArchived;
  if (view.endedAtMs !== null && view.pagesWritten * taskPageSize >= view.tasks.total) return asArchived;
  const read = await deps.workflows.query<OpenTasks | null, TasksQueryInput>(
    jobWorkflowId(view.number),
    jobMessages.tasks,
    { from, count },
  );
  if (read.kind === 'value' && read.value === null) return asArchived;
  if (read.kind === 'value' && read.value !== null) {
    const { pagesWritten, page, open, ended } = read.value;
    return { view: ended === null ? view : { ...view, ...ended }, isLive: true, pagesWritten, page, open };
  }
  // It has ended since its view was read: now everything is in the archive, and the new view says how many pages.
  deps.views.expire(view.number);
  const { view: ended } = await deps.views.job(view.workspace, view.number);
  return { ...asArchived, view: ended, pagesWritten: ended.pagesWritten };
}

type TaskFacts = Omit<Task, 'id' | 'index'>;

const untouched: TaskFacts = {
  state: 'pending',
  attempt: 0,
  exitCode: null,
  signal: null,
  instance: null,
  startedAt: null,
  endedAt: null,
  reason: null,
};

/** Its record may be in a page that cannot be read. */
const unknown: TaskFacts = {
  ...untouched,
  state: 'unknown',
  reason: 'its record cannot be read: a page of the archive is damaged or missing',
};

const openTask = ({ state, attempt, instance, startedAtMs }: OpenTasks['open'][number]): TaskFacts => ({
  ...untouched,
  ...{ state, attempt, instance, startedAt: timeOrNull(startedAtMs) },
});

/** Cancelled with its job, or before: by a cancel of some tasks, whose reason is that of the last one. */
function neverRun({ view: { endedAtMs, reason, tasksCancelled, status }, isLive }: Window): TaskFacts {
  if (endedAtMs === null && (!isLive || tasksCancelled === undefined)) return untouched;
  const alone = endedAtMs === null || status === 'done' || reason?.code === 'TASKS_FAILED' ? tasksCancelled : undefined;
  const why = alone ?? reason;
  return { ...untouched, state: 'cancelled', endedAt: timeOrNull(alone?.atMs ?? endedAtMs), reason: why?.text ?? null };
}

const endedTask = (record: TaskRecord): TaskFacts => ({
  state: record.state,
  attempt: record.attempt,
  exitCode: record.exitCode,
  signal: record.signal,
  instance: record.instance,
  startedAt: timeOrNull(record.startedAtMs),
  endedAt: timeOrNull(record.endedAtMs),
  reason: record.reason,
});

// A page of a job's tasks in the order of their index: ended ones from the archive, open ones from the workflow. A task that
// never ran has no record: it ended with its job.
import { parseArray } from '../../domain/job/array.ts';
import type { TaskRecord } from '../../domain/job/state.ts';
import { taskPageSize } from '../../domain/job/limits.ts';
import { classifyDurations } from '../../domain/job/task-durations.ts';
import type { Task, TaskPage, TasksQuery, TaskStates } from '../../schema/jobs.ts';
import { jobMessages, jobWorkflowId, type JobView, type OpenTasks, type TasksQueryInput } from '../../contracts/job.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { parseCursor } from '../list-query.ts';
import { timeOrNull } from '../to-wire.ts';
import type { Viewed } from '../views.ts';

/** With `states`, only tasks in one of them: more of the job is read for a page. */
export async function listTasks(
  { deps, actor }: Context,
  { number, limit, after, state: states }: { number: number; limit: number } & Partial<TasksQuery>,
): Promise<TaskPage> {
  const seen = await findJob({ deps, actor }, number);
  const { total } = seen.view.tasks;
  const items: Task[] = [];
  let from = (parseCursor(after) ?? -1) + 1;
  while (from < total && items.length < limit) {
    const end = Math.min(from + (states === undefined ? limit - items.length : windowSize), total);
    const read = await readTasks(deps, seen, from, end);
    const chosen = states === undefined ? read : read.filter(({ state }) => states.includes(state));
    const taken = chosen.slice(0, limit - items.length);
    items.push(...taken);
    from = taken.length < chosen.length ? (taken.at(-1)?.index ?? from) + 1 : end;
  }
  return { items, next: from < total ? String(from - 1) : null };
}

/** The state of every task, as runs of equal states, and how long those took that have ended. */
export async function readTaskStates({ deps, actor }: Context, { number }: { number: number }): Promise<TaskStates> {
  const seen = await findJob({ deps, actor }, number);
  const { total } = seen.view.tasks;
  const runs: TaskStates['runs'] = [];
  const durations: number[] = [];
  for (let from = 0; from < total; from += windowSize) {
    for (const task of await readTasks(deps, seen, from, Math.min(from + windowSize, total))) {
      const last = runs.at(-1);
      if (last?.state === task.state) last.count += 1;
      else runs.push({ state: task.state, count: 1 });
      const { startedAt, endedAt } = task;
      if (startedAt !== null && endedAt !== null) durations.push(Date.parse(endedAt) - Date.parse(startedAt));
    }
  }
  return { total, runs, durations: classifyDurations(durations) };
}

/** Tasks of one query of the workflow: some 500 kB while all are open, a quarter of what Temporal lets an answer have. */
const windowSize = 5_000;

async function findJob({ deps, actor }: Pick<Context, 'deps' | 'actor'>, number: number): Promise<Viewed<JobView>> {
  requireScope(actor, 'read');
  const seen = await deps.views.job(actor.workspace, number);
  requireCreator(actor, 'Job', seen.record, 'may see its tasks');
  return seen;
}

async function readTasks(deps: Deps, seen: Viewed<JobView>, from: number, end: number): Promise<Task[]> {
  const { view } = seen;
  const window = await readWindow(deps, seen, from, end - from);
  const wanted = Array.from({ length: end - from }, (_, offset) => from + offset);
  const inHand = new Map(window.page.map((record) => [record.task, record]));
  const open = new Map(window.open.map((task) => [task.index, task]));
  const archived = await deps.taskRecords.find(
    { workspace: view.workspace, number: view.number, pages: window.pagesWritten },
    wanted.filter((index) => !inHand.has(index) && !open.has(index)),
  );
  const array = parseArray(view.array);
  return wanted.map((index): Task => {
    const ended = inHand.get(index) ?? archived.records.get(index);
    const place = { id: array.idAt(index), index };
    if (ended !== undefined) return { ...place, ...endedTask(ended) };
    const task = open.get(index);
    if (task !== undefined) return { ...place, ...openTask(task) };
    return { ...place, ...(archived.unreadablePages > 0 ? unknown : neverRun(window)) };
  });
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

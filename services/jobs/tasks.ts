// A page of a job's tasks in the order of their index: ended ones from the archive, open ones from the workflow. A task that never ran has no record:
// it ended with its job.
import type { TaskRecord } from '../../domain/job/state.ts';
import type { Task, TaskPage, TasksQuery } from '../../schema/jobs.ts';
import { jobMessages, type JobView, type OpenTasks, type TasksQueryInput } from '../../contracts/job.ts';
import type { Context, Deps } from '../context.ts';
import { withTaskCosts } from '../costs/of-tasks.ts';
import { parseCursor } from '../list-query.ts';
import { timeOrNull } from '../to-wire.ts';
import { inParts } from '../turns.ts';
import type { Viewed } from '../views.ts';
import { arrayOfView } from './array-of-view.ts';
import { endWithoutRecord, findJob, readLive } from './live-tasks.ts';
import { inTurn, readStates, stateAt } from './task-states.ts';

/** With `states`, returns only tasks in one of them. */
export async function listTasks(
  context: Context,
  { number, limit, after, state: states }: { number: number; limit: number } & Partial<TasksQuery>,
): Promise<TaskPage> {
  const seen = await findJob(context, number);
  const from = (parseCursor(after) ?? -1) + 1;
  const wanted = await (states === undefined
    ? firstFrom(from, seen.view.tasks.total, limit)
    : inTurn(context, seen, () => firstInStates(context.deps, seen, { states, from, limit })));
  const items = await withTaskCosts(context.deps, number, await readTasks(context.deps, seen, wanted.indices));
  return {
    // Some may have changed since the states were read.
    items: states === undefined ? items : items.filter(({ state }) => states.includes(state)),
    next: wanted.hasMore ? String(wanted.indices.at(-1)) : null,
  };
}

interface WantedTasks {
  indices: number[];
  hasMore: boolean;
}

const firstFrom = (from: number, total: number, limit: number): WantedTasks => ({
  indices: Array.from({ length: Math.max(0, Math.min(limit, total - from)) }, (_, at) => from + at),
  hasMore: from + limit < total,
});

async function firstInStates(
  deps: Deps,
  seen: Viewed<JobView>,
  { states, from, limit }: { states: readonly Task['state'][]; from: number; limit: number },
): Promise<WantedTasks> {
  const read = await readStates(deps, seen);
  const indices: number[] = [];
  let hasMore = false;
  await inParts(Math.max(0, read.codes.length - from), (at) => {
    if (hasMore || !states.includes(stateAt(read, from + at))) return;
    hasMore = indices.length === limit;
    if (!hasMore) indices.push(from + at);
  });
  return { indices, hasMore };
}

async function readTasks(deps: Deps, seen: Viewed<JobView>, indices: number[]): Promise<TaskRow[]> {
  if (indices.length === 0) return [];
  const live = await readLive<OpenTasks, TasksQueryInput>(deps, seen, jobMessages.tasks, { indices });
  const inHand = new Map(live.answer?.page.map((record) => [record.task, record]));
  const open = new Map(live.answer?.open.map((task) => [task.index, task]));
  const archived = await deps.taskRecords.find(
    live.archive,
    indices.filter((index) => !inHand.has(index) && !open.has(index)),
  );
  const array = await arrayOfView(deps, seen.view);
  return indices.map((index): TaskRow => {
    const ended = inHand.get(index) ?? archived.records.get(index);
    const place = { id: array.idAt(index), index };
    if (ended !== undefined) return { ...place, ...endedTask(ended) };
    const task = open.get(index);
    if (task !== undefined) return { ...place, ...openTask(task) };
    return { ...place, ...(archived.unreadablePages > 0 ? unknown : neverRan(endWithoutRecord(live))) };
  });
}

type TaskRow = Omit<Task, 'cost'>;
type TaskFacts = Omit<TaskRow, 'id' | 'index'>;

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

/** Its record may be in an unreadable page. */
const unknown: TaskFacts = {
  ...untouched,
  state: 'unknown',
  reason: 'its record cannot be read: a page of the archive is damaged or missing',
};

const openTask = ({ state, attempt, instance, startedAtMs }: OpenTasks['open'][number]): TaskFacts => ({
  ...untouched,
  ...{ state, attempt, instance, startedAt: timeOrNull(startedAtMs) },
});

const neverRan = (end: { atMs: number | null; text: string | null } | null): TaskFacts =>
  end === null ? untouched : { ...untouched, state: 'cancelled', endedAt: timeOrNull(end.atMs), reason: end.text };

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

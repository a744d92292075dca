// The states of all tasks of a job, at a byte each: for a grid of them, and for a search by state.
import { jobMessages, type AllOpenTasks, type JobView } from '../../contracts/job.ts';
import type { OpenStates } from '../../domain/job/open-tasks.ts';
import { countDuration, durationClasses } from '../../domain/job/task-durations.ts';
import { isIn } from '../../domain/job/task-set.ts';
import { taskState, type Task, type TaskStates } from '../../schema/jobs.ts';
import { callerOf } from '../auth/caller.ts';
import type { Context, Deps } from '../context.ts';
import { inParts } from '../turns.ts';
import type { Viewed } from '../views.ts';
import { endWithoutRecord, findJob, readLive } from './live-tasks.ts';
import { durationOf, endCodes } from './task-records.ts';

/** Maximum number of cells in a grid: more than a page has pixels for. */
export const maxTaskCells = 100_000;

/** Returns runs of equal states, and the durations of ended tasks. Above `maxTaskCells` tasks, a cell stands for several. */
export async function readTaskStates(context: Context, { number }: { number: number }): Promise<TaskStates> {
  const seen = await findJob(context, number);
  return inTurn(context, seen, async () => {
    const { codes, durationsMs } = await readStates(context.deps, seen);
    const total = codes.length;
    const tasksPerCell = Math.max(1, Math.ceil(total / maxTaskCells));
    const runs: TaskStates['runs'] = [];
    let highest = 0;
    let [shortest, longest] = [Infinity, 0];
    await inParts(total, (index) => {
      const took = durationsMs[index] ?? -1;
      if (took >= 0) [shortest, longest] = [Math.min(shortest, took), Math.max(longest, took)];
      highest = Math.max(highest, codes[index] ?? 0);
      const isLast = (index + 1) % tasksPerCell === 0 || index + 1 === total;
      if (!isLast) return;
      const state = names[highest] ?? 'unknown';
      highest = 0;
      const last = runs.at(-1);
      if (last?.state === state) last.count += 1;
      else runs.push({ state, count: 1 });
    });
    const durations = durationClasses(shortest, longest);
    await inParts(durations.length === 0 ? 0 : total, (index) => {
      const took = durationsMs[index] ?? -1;
      if (took >= 0) countDuration(durations, took);
    });
    return { total, tasksPerCell, runs, durations };
  });
}

/** For every operation that reads all tasks of a job. */
export const inTurn = <T>(
  { deps, actor }: Pick<Context, 'deps' | 'actor'>,
  { view }: Viewed<JobView>,
  work: () => Promise<T>,
) => deps.turns.take(callerOf(actor).id, view.tasks.total, work);

export interface AllStates {
  /** By index; see `stateAt`. */
  codes: Uint8Array;
  /** By index: -1 without a start or an end. */
  durationsMs: Float32Array;
  /** By index: 0 for a task that has not ended. */
  endedAtMs: Float64Array;
  running: readonly number[];
}

export const stateAt = ({ codes }: Pick<AllStates, 'codes'>, index: number): Task['state'] =>
  names[codes[index] ?? 0] ?? 'unknown';

export async function readStates(deps: Deps, seen: Viewed<JobView>): Promise<AllStates> {
  const live = await readLive<AllOpenTasks>(deps, seen, jobMessages.taskStates);
  const { ends, unreadablePages } = await deps.taskRecords.ends(live.archive);
  const [codes, durationsMs, endedAtMs] = [ends.codes.slice(), ends.durationsMs.slice(), ends.endedAtMs.slice()];
  for (const record of live.answer?.page ?? []) {
    codes[record.task] = endCodes[record.state];
    durationsMs[record.task] = durationOf(record);
    endedAtMs[record.task] = record.endedAtMs;
  }
  if (live.answer !== null) await enterOpen(codes, live.answer.open);
  const end = endWithoutRecord(live);
  const others = unreadablePages > 0 ? codeOf.unknown : end === null ? codeOf.pending : codeOf.cancelled;
  await inParts(codes.length, (index) => {
    if (codes[index] !== 0) return;
    codes[index] = others;
    endedAtMs[index] = end?.atMs ?? 0;
  });
  return { codes, durationsMs, endedAtMs, running: live.answer?.open.running ?? [] };
}

async function enterOpen(codes: Uint8Array, open: OpenStates): Promise<void> {
  const { nextFresh, headTasks, skipped, requeued, assigned, running } = open;
  const head = new Set(headTasks);
  await inParts(codes.length - nextFresh, (at) => {
    const index = nextFresh + at;
    if (!head.has(index) && (skipped === null || !isIn(skipped, index))) codes[index] = codeOf.pending;
  });
  for (const index of requeued) codes[index] = codeOf.pending;
  for (const index of assigned) codes[index] = codeOf.assigned;
  for (const index of running) codes[index] = codeOf.running;
}

/** A cell of several tasks shows the highest code. */
const codeOf: Record<Task['state'], number> = { ...endCodes, pending: 3, assigned: 4, running: 5, unknown: 6 };
const names: Partial<Record<number, Task['state']>> = Object.fromEntries(
  taskState.options.map((name) => [codeOf[name], name]),
);

// The states of all tasks of a job, at a byte each: for a grid of them, and to find those in some state.
import { jobMessages, type AllOpenTasks, type JobView } from '../../contracts/job.ts';
import type { OpenStates } from '../../domain/job/open-tasks.ts';
import { classifyDurations } from '../../domain/job/task-durations.ts';
import { isIn } from '../../domain/job/task-set.ts';
import { taskState, type Task, type TaskStates } from '../../schema/jobs.ts';
import type { Context, Deps } from '../context.ts';
import type { Viewed } from '../views.ts';
import { endWithoutRecord, findJob, readLive } from './live-tasks.ts';
import { durationOf, endCodes } from './task-records.ts';

/** Cells of a grid: more than a page has pixels for. */
export const maxTaskCells = 100_000;

/** As runs of equal states, and how long tasks took that have ended. Above `maxTaskCells` tasks, a cell stands for several. */
export async function readTaskStates(context: Context, { number }: { number: number }): Promise<TaskStates> {
  const seen = await findJob(context, number);
  const { codes, durationsMs } = await readStates(context.deps, seen);
  const total = codes.length;
  const tasksPerCell = Math.max(1, Math.ceil(total / maxTaskCells));
  const runs: TaskStates['runs'] = [];
  for (let from = 0; from < total; from += tasksPerCell) {
    const code = codes.subarray(from, from + tasksPerCell).reduce((a, b) => Math.max(a, b), 0);
    const state = names[code] ?? 'unknown';
    const last = runs.at(-1);
    if (last?.state === state) last.count += 1;
    else runs.push({ state, count: 1 });
  }
  return { total, tasksPerCell, runs, durations: classifyDurations(durationsMs.filter((each) => each >= 0)) };
}

export interface AllStates {
  /** By index, see `stateAt`. */
  codes: Uint8Array;
  /** By index; -1 without a start or an end. */
  durationsMs: Float32Array;
  /** By index; 0 for a task that has not ended. */
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
  if (live.answer !== null) enterOpen(codes, live.answer.open);
  const end = endWithoutRecord(live);
  const others = unreadablePages > 0 ? codeOf.unknown : end === null ? codeOf.pending : codeOf.cancelled;
  for (let index = 0; index < codes.length; index += 1) {
    if (codes[index] !== 0) continue;
    codes[index] = others;
    endedAtMs[index] = end?.atMs ?? 0;
  }
  return { codes, durationsMs, endedAtMs, running: live.answer?.open.running ?? [] };
}

function enterOpen(codes: Uint8Array, open: OpenStates): void {
  const { nextFresh, headTasks, skipped, requeued, assigned, running } = open;
  const head = new Set(headTasks);
  for (let index = nextFresh; index < codes.length; index += 1)
    if (!head.has(index) && (skipped === null || !isIn(skipped, index))) codes[index] = codeOf.pending;
  for (const index of requeued) codes[index] = codeOf.pending;
  for (const index of assigned) codes[index] = codeOf.assigned;
  for (const index of running) codes[index] = codeOf.running;
}

/** A higher code is what a cell of several tasks shows. */
const codeOf: Record<Task['state'], number> = { ...endCodes, pending: 3, assigned: 4, running: 5, unknown: 6 };
const names: Partial<Record<number, Task['state']>> = Object.fromEntries(
  taskState.options.map((name) => [codeOf[name], name]),
);

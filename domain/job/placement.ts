// Assigns tasks to instances: a head instance with its own tasks runs only these; otherwise all instances run any task. Also decides whether a job
// that starts all at once may start.
import { RopewalkError } from '../errors.ts';
import { parseArray, shownArray, type JobArray } from './array.ts';
import type { JobState } from './state.ts';
import { isIn } from './task-set.ts';

/** Maximum number of the head instance's tasks in a job's state. */
const maxHeadTasks = 1_000;

export interface PlacementInput {
  taskOnScheduler?: boolean | undefined;
  /** Array syntax. */
  schedulerTaskArray?: string | undefined;
}

/** The indices of the head instance's tasks, ascending; undefined when all instances run any task. Throws VALIDATION. */
export function readHeadTasks(
  { taskOnScheduler, schedulerTaskArray }: PlacementInput,
  array: JobArray,
): number[] | undefined {
  if (schedulerTaskArray !== undefined) {
    if (taskOnScheduler === false) throw invalid('the head instance cannot both have tasks and have none');
    const wanted = parseArray(schedulerTaskArray, 'schedulerTaskArray');
    if (wanted.count > maxHeadTasks) throw invalid(`the head instance can have at most ${maxHeadTasks} tasks`);
    const ids = Array.from({ length: wanted.count }, (_, at) => wanted.idAt(at));
    const indices = ids.map((id) => array.indexOf(id) ?? missing(id, array));
    return indices.toSorted((a, b) => a - b);
  }
  if (taskOnScheduler === undefined) return undefined;
  if (!taskOnScheduler) return [];
  let lowest = { index: 0, id: array.idAt(0) };
  for (let index = 1; index < array.count; index += 1) {
    const id = array.idAt(index);
    if (id < lowest.id) lowest = { index, id };
  }
  return [lowest.index];
}

/** Number of instances of a job whose head has its own tasks: the head, and workers for the other tasks. */
export function instancesFor(taskCount: number, headTasks: number[] | undefined, maxWorkers: number): number {
  if (headTasks === undefined) return Math.min(taskCount, maxWorkers);
  const others = taskCount - headTasks.length;
  return 1 + Math.min(others, maxWorkers);
}

/** Whether an instance may run a task. */
export function mayRun({ settings }: JobState, task: number, isHead: boolean): boolean {
  return settings.headTasks === undefined || settings.headTasks.includes(task) === isHead;
}

/** Queues the head's tasks like tasks to be retried, so the other tasks can be granted in their order. */
export function firstInLine(headTasks: number[] | undefined): { requeued: number[]; nextFresh: number } {
  const requeued = [...(headTasks ?? [])];
  return { requeued, nextFresh: skipHeadTasks(headTasks, 0) };
}

/** The first index from `index` on that is not a task of the head. */
export function skipHeadTasks(headTasks: number[] | undefined, index: number): number {
  let next = index;
  while (headTasks?.includes(next) === true) next += 1;
  return next;
}

/** The first index from `index` on that may be granted as a fresh task: neither the head's nor cancelled. */
export function skipTaken(state: JobState, index: number): number {
  let next = index;
  while (next < state.settings.taskCount && !mayBeFresh(state, next)) next += 1;
  return next;
}

/** For an index that was never granted as a fresh task. */
const mayBeFresh = ({ settings: { headTasks }, skipped }: JobState, index: number): boolean =>
  headTasks?.includes(index) !== true && (skipped === undefined || !isIn(skipped, index));

/** True when a task waits for its first attempt; the head's tasks wait in `requeued` instead. */
export const isFresh = (state: JobState, index: number): boolean =>
  index >= state.nextFresh && index < state.settings.taskCount && mayBeFresh(state, index);

/** A job with `gang` grants no task before each of its instances has made a claim; after that nothing delays it. */
export function mayStart(state: JobState): boolean {
  const { gang, instances } = state.settings;
  if (gang !== true || state.startedAtMs !== null) return true;
  const here = Object.values(state.instances).filter(({ lost, isReleased }) => !lost && isReleased !== true);
  return here.length >= instances;
}

const missing = (id: number, array: JobArray): never => {
  throw invalid(`the job has no task ${id}; it has ${shownArray(array.canonical)}`);
};

const invalid = (why: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', field: 'schedulerTaskArray', message: `schedulerTaskArray: ${why}.` });

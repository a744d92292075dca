// Creates the view of a job from its workflow's state, from its row while there is no state to read, or at the end of a job whose workflow could not
// write its own view. API, SDK, CLI and pages only format it.
import type { AllOpenTasks, JobInput, JobView, OpenTasks } from '../contracts/job.ts';
import { failureGroups } from '../domain/job/failure-groups.ts';
import { openStates, openTasks } from '../domain/job/open-tasks.ts';
import type { JobState } from '../domain/job/state.ts';
import { arrayOf, describeStoredArray } from '../domain/job/stored-array.ts';
import { summarizeJob } from '../domain/job/summary.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { StoredRecord } from '../store/store.ts';
import { endedFromOutside, reasonOfRecord, statusOfRecord } from './record.ts';

/** From the state of the job's workflow. */
export function viewJob(state: JobState, input: JobInput): JobView {
  const { settings } = state;
  return {
    number: state.number,
    workspace: state.workspace,
    name: settings.name,
    command: settings.command,
    user: input.user,
    ...summarizeJob(state),
    array: describeStoredArray(settings.array),
    provider: settings.provider,
    region: settings.machines?.region ?? null,
    instances: settings.instances,
    submittedAtMs: state.submittedAtMs,
    startedAtMs: state.startedAtMs,
    endedAtMs: state.endedAtMs,
    recentErrors: state.recentErrors.map(({ task, ...error }) => ({ task: arrayOf(settings).idAt(task), ...error })),
    ...(state.causes === undefined ? {} : { failures: failureGroups(state.causes) }),
    pagesWritten: state.pagesWritten,
    privateToCreator: input.privateToCreator,
    ...(settings.retryOf === undefined ? {} : { retryOf: settings.retryOf }),
    ...queueOf(settings),
    ...(state.tasksCancelled === undefined ? {} : { tasksCancelled: state.tasksCancelled }),
  };
}

export function viewTasks(state: JobState, indices: readonly number[]): OpenTasks {
  const wanted = new Set(indices);
  return {
    pagesWritten: state.pagesWritten,
    page: state.page.filter(({ task }) => wanted.has(task)),
    ended: endOf(state),
    open: openTasks(state, indices),
  };
}

export function viewAllTasks(state: JobState): AllOpenTasks {
  return {
    pagesWritten: state.pagesWritten,
    page: state.page.map(({ task, state: end, startedAtMs, endedAtMs }) => ({
      task,
      state: end,
      startedAtMs,
      endedAtMs,
    })),
    ended: endOf(state),
    open: openStates(state),
  };
}

const endOf = ({ outcome, endedAtMs }: JobState): OpenTasks['ended'] =>
  outcome === null ? null : { ...outcome, endedAtMs };

/** Before its workflow has read the specification: only data of the admission. */
export function pendingJob(
  { number, workspace, name, user, privateToCreator }: JobInput,
  submittedAtMs: number,
): JobView {
  return {
    ...nothingHappened(0, 'pending'),
    ...{ number, workspace, name, user, privateToCreator, command: '', array: '', instances: 0 },
    ...{ provider: '', region: null, status: 'pending', reason: null, submittedAtMs, endedAtMs: null },
  };
}

/** From its row, and its specification where that can be read, for a job whose workflow has written no view. */
export function jobOfRecord(record: StoredRecord<JobView>, spec: JobSpec | null): JobView {
  const { number, workspace, name, user, instances, privateToCreator, endedAtMs } = record;
  const {
    command = record.command,
    taskCount = 0,
    array: stored = '0',
    provider = '',
    machines,
  } = spec?.settings ?? {};
  const array = describeStoredArray(stored);
  const status = statusOfRecord(record, statuses);
  return {
    ...nothingHappened(taskCount, status, endedAtMs !== null),
    ...{ number, workspace, name, user, command, instances, privateToCreator, provider, array, endedAtMs },
    ...queueOf(spec?.settings ?? {}),
    ...(spec?.settings.retryOf === undefined ? {} : { retryOf: spec.settings.retryOf }),
    region: machines?.region ?? null,
    status,
    reason: reasonOfRecord(record),
    submittedAtMs: record.createdAtMs,
  };
}

/** True when a view contains less than the row, because its workflow has not read the specification yet. */
export const isBlankJob = ({ tasks }: JobView): boolean => tasks.total === 0;

/** The last view of a job whose workflow was ended from outside; its open tasks are cancelled. */
export function endedJob(last: JobView, text: string, nowMs: number): JobView {
  const { tasks } = last;
  const cancelled = tasks.total - tasks.done - tasks.error;
  return {
    ...last,
    status: 'error',
    reason: endedFromOutside(text, nowMs),
    tasks: { ...tasks, pending: 0, assigned: 0, running: 0, cancelled },
    endedAtMs: nowMs,
  };
}

const statuses: readonly JobView['status'][] = ['waiting', 'pending', 'running', 'done', 'error', 'cancelled'];

type JobOrigin = 'after' | 'priority' | 'schedule';

/** The wait options in a job's specification; empty for a job that was admitted at once. */
const queueOf = ({ after, priority, schedule }: Pick<JobView, JobOrigin>): Pick<JobView, JobOrigin> => ({
  ...(schedule === undefined ? {} : { schedule }),
  ...(after === undefined ? {} : { after }),
  ...(priority === undefined ? {} : { priority }),
});

/** All tasks wait before the job begins, and are cancelled when it ends before that. */
const nothingHappened = (total: number, status: JobView['status'], hasEnded = false) => ({
  tasks: {
    ...{ total, pending: !hasEnded && (status === 'pending' || status === 'waiting') ? total : 0 },
    ...{ assigned: 0, running: 0, done: 0, error: 0, cancelled: hasEnded ? total : 0 },
  },
  counters: { done: 0, error: 0, cancelled: hasEnded ? total : 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
  startedAtMs: null,
  recentErrors: [],
  pagesWritten: 0,
});

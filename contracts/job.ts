// The job workflow: one per submitted batch.
import type { FailureGroup } from '../domain/job/failure-groups.ts';
import type { OpenStates, OpenTask } from '../domain/job/open-tasks.ts';
import type { JobState, TaskRecord, TaskState } from '../domain/job/state.ts';
import type { Reason } from '../domain/reason.ts';
import type { JobSummary } from '../domain/job/summary.ts';

export const jobType = 'job';
export const jobWorkflowId = (number: number): string => `job/${number}`;

export const jobMessages = {
  cancel: 'job.cancel',
  cancelTasks: 'job.cancelTasks',
  instanceLost: 'job.instanceLost',
  exchange: 'job.exchange',
  view: 'job.view',
  tasks: 'job.tasks',
  taskStates: 'job.taskStates',
  /** Of the newest view that was handed to the database. */
  version: 'job.version',
} as const;

export interface JobInput {
  number: number;
  workspace: string;
  name: string;
  admissionId: string;
  specRef: string;
  user: string;
  deploymentId: string;
  /** Only its creator may read what its tasks print. */
  privateToCreator: boolean;
  carry?: JobCarry;
}
/** What a job takes along when it continues as new. */
export interface JobCarry {
  state: JobState;
  bundleRef: string;
  clusterStarted: boolean;
}
/** Code of the cancellation of a job whose cluster was ended from outside: nothing is left that releases name and quota but the job. */
export const clusterGone = 'CLUSTER_GONE';

export interface CancelSignal {
  code: string;
  text: string;
  by?: string;
}
/** `tasks`: ids in array syntax, checked by the API. */
export interface CancelTasksSignal {
  tasks: string;
  text: string;
  by: string;
}
export interface InstanceLostSignal {
  /** `isOrderly`: stopped, released or interrupted; nothing that ran there can be the reason. */
  instances: { instance: string; code: string; text: string; isOrderly: boolean }[];
}
/** What people see of a job; the workflow's result and its row hold the same shape. */
export interface JobView extends JobSummary {
  provider: string;
  /** Null where there are no regions. */
  region: string | null;
  number: number;
  workspace: string;
  name: string;
  command: string;
  user: string;
  /** In array syntax, shortened where it is long. */
  array: string;
  instances: number;
  submittedAtMs: number;
  startedAtMs: number | null;
  endedAtMs: number | null;
  /** `task` is an id in the array: as people know it, and its log lines. */
  recentErrors: { task: number; attempt: number; text: string; atMs: number }[];
  /** Failed attempts by cause, the most frequent first; absent without one. */
  failures?: FailureGroup[];
  privateToCreator: boolean;
  /** Why some tasks were cancelled while the job went on. */
  tasksCancelled?: Reason;
  /** The job whose failed tasks this one runs again. */
  retryOf?: number;
  /** The jobs that it waited for, or waits for; `needsSuccess`: without a failed task. */
  after?: { number: number; needsSuccess: boolean }[] | undefined;
  /** Its place among jobs that wait; absent for one that was admitted at once. */
  priority?: number | undefined;
  /** Name of the schedule that it is a run of. */
  schedule?: string | undefined;
  /** Task pages already in the archive, of `taskPageSize` records each. */
  pagesWritten: number;
}
/** One task as people see it. `id` is the array id, `index` its place. */
export interface TaskView {
  index: number;
  id: number;
  state: TaskState;
  attempt: number;
  exitCode: number | null;
  signal: string | null;
  instance: string | null;
  startedAtMs: number | null;
  endedAtMs: number | null;
  reason: string | null;
}
export interface TasksQueryInput {
  indices: number[];
}
/** Answer of the `tasks` query: what the workflow still has of the tasks asked for. Records already archived are not in it. */
export interface OpenTasks {
  pagesWritten: number;
  page: TaskRecord[];
  /** Set once the job has its outcome: tasks without a record ended with it. */
  ended: Pick<JobView, 'status' | 'reason' | 'endedAtMs'> | null;
  open: OpenTask[];
}
/** Answer of the `taskStates` query: the same of all tasks, in little room. */
export interface AllOpenTasks extends Pick<OpenTasks, 'pagesWritten' | 'ended'> {
  page: Pick<TaskRecord, 'task' | 'state' | 'startedAtMs' | 'endedAtMs'>[];
  open: OpenStates;
}

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
  /** Version of the newest view that was sent to the database. */
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
  /** Only its creator may read its tasks' output. */
  privateToCreator: boolean;
  carry?: JobCarry;
}
/** The state that a job carries across continue-as-new. */
export interface JobCarry {
  state: JobState;
  bundleRef: string;
  clusterStarted: boolean;
}
/** Cancellation code of a job whose cluster was ended from outside: the job itself must then release name and quota. */
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
  /** `isOrderly`: stopped, released or interrupted, so the instance's tasks cannot be the cause. */
  instances: { instance: string; code: string; text: string; isOrderly: boolean }[];
}
/** The view of a job; the workflow's result and its row have the same shape. */
export interface JobView extends JobSummary {
  provider: string;
  /** Null where there are no regions. */
  region: string | null;
  number: number;
  workspace: string;
  name: string;
  command: string;
  user: string;
  /** Array syntax, shortened when long. */
  array: string;
  instances: number;
  submittedAtMs: number;
  startedAtMs: number | null;
  endedAtMs: number | null;
  /** `task` is the array id, as in views and log lines. */
  recentErrors: { task: number; attempt: number; text: string; atMs: number }[];
  /** Failed attempts by cause, the most frequent first; absent when there are none. */
  failures?: FailureGroup[];
  privateToCreator: boolean;
  /** Why some tasks were cancelled while the job continued. */
  tasksCancelled?: Reason;
  /** The job whose failed tasks this one retries. */
  retryOf?: number;
  /** The jobs that it waits for, or waited for. `needsSuccess`: they must end without a failed task. */
  after?: { number: number; needsSuccess: boolean }[] | undefined;
  /** Its priority in the queue; absent for a job that was admitted at once. */
  priority?: number | undefined;
  /** Name of the schedule that submitted it. */
  schedule?: string | undefined;
  /** Task pages already in the archive, of `taskPageSize` records each. */
  pagesWritten: number;
}
/** The view of one task. `id` is the array id, `index` its place. */
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
/** Answer of the `tasks` query: the workflow's data of the requested tasks. Archived records are not included. */
export interface OpenTasks {
  pagesWritten: number;
  page: TaskRecord[];
  /** Set once the job has its outcome: tasks without a record ended with it. */
  ended: Pick<JobView, 'status' | 'reason' | 'endedAtMs'> | null;
  open: OpenTask[];
}
/** Answer of the `taskStates` query: the same for all tasks, in compact form. */
export interface AllOpenTasks extends Pick<OpenTasks, 'pagesWritten' | 'ended'> {
  page: Pick<TaskRecord, 'task' | 'state' | 'startedAtMs' | 'endedAtMs'>[];
  open: OpenStates;
}

// The state of one job, as its workflow holds it and carries it across continue-as-new: plain, compact JSON. Only the functions of this folder change
// it. Nothing here depends on Temporal, HTTP or the clock: `nowMs` is a parameter.
import type { MachineSettings } from '../cluster/capacity/machine-settings.ts';
import type { Projection } from '../projection.ts';
import type { Reason } from '../reason.ts';
import type { FailureCauses } from './failure-groups.ts';
import type { RetryRules } from './retry-rules.ts';

export type TaskState = 'pending' | 'assigned' | 'running' | 'done' | 'error' | 'cancelled';
/** `waiting`: in the queue, before its workflow starts. */
export type JobStatus = 'waiting' | 'pending' | 'running' | 'done' | 'error' | 'cancelled';

/** The part of the job's specification that the workflow needs; the rest stays in the object store. */
export interface JobSettings {
  name: string;
  /** The command line as the user typed it, for views; never run from here. */
  command: string;
  taskCount: number;
  /** Task ids in the format of `readStoredArray`, e.g. `2,4-6,8-10` or `0-9`; the nth id belongs to index n. */
  array: string;
  /** Number of instances requested for the job's cluster. */
  instances: number;
  leaseMs: number;
  /** Extra attempts for a task whose command exits other than 0. */
  retries: number;
  /** The failures to retry; all when absent. */
  retryOn?: RetryRules | undefined;
  /** Counts from the first granted task; null for no limit. */
  jobTimeoutMs: number | null;
  provider: string;
  providerQueue: string;
  /** Number of vCPUs that one instance uses of the workspace's limits. */
  instanceVcpus: number;
  /** Indices of the head instance's own tasks; absent when all instances run any task. */
  headTasks?: number[] | undefined;
  /** No task starts before all instances are ready; the job ends if one of them is unavailable. */
  gang?: true | undefined;
  /** The job whose failed tasks this one retries. */
  retryOf?: number | undefined;
  /** The jobs it waited for before its admission, for views. */
  after?: { number: number; needsSuccess: boolean }[] | undefined;
  priority?: number | undefined;
  /** The cost limit of its cluster, in millionths of a dollar. */
  maxCostMicros?: number | undefined;
  /** Name of the schedule that submitted it, for views. */
  schedule?: string | undefined;
  /** The requested cloud machines; absent on a host. */
  machines?: MachineSettings | undefined;
}

/** The right to run one task. `lease` is the fencing number: it only grows within a job. */
export interface Lease {
  lease: number;
  task: number;
  attempt: number;
  instance: string;
  claim: number;
  grantedAtMs: number;
  /** When its agent last confirmed that it holds this lease. */
  heardAtMs: number;
  deadlineMs: number;
  /** When its command began, according to its agent; null before. */
  startedAtMs: number | null;
  /** Periods of silence tolerated so far because the instance exists. */
  extensions: number;
  /** Granted before its turn, and its agent has not reported running it. */
  ahead?: true;
}

/** A task's final record: written once, in the order in which tasks end. */
export interface TaskRecord {
  task: number;
  state: 'done' | 'error' | 'cancelled';
  attempt: number;
  exitCode: number | null;
  signal: string | null;
  instance: string | null;
  startedAtMs: number | null;
  endedAtMs: number;
  /** Set unless the exit code is the whole reason. */
  reason: string | null;
}

/** A job's record of an instance, with its last claim, so a repeated claim gets the same grant. */
export interface JobInstance {
  lastClaim: number;
  /** Leases recorded since that claim, which distinguish a repeated result from a stale one. */
  recorded: number[];
  lastSeenMs: number;
  /** Its cluster has lost it; it gets no more work. */
  lost: boolean;
  /** Whether it is the head instance, according to its agent. */
  head: boolean;
  /** Released to the cluster because no task waits; it gets no more work. */
  isReleased?: boolean;
}

export interface JobCounters {
  done: number;
  error: number;
  cancelled: number;
  /** Results refused because their lease had ended. */
  stale: number;
  /** Repeated results, acknowledged and ignored. */
  repeated: number;
  /** Attempts whose instance was lost. */
  lost: number;
  /** Failed attempts that were retried. */
  retried: number;
}

export interface JobState {
  v: 1;
  number: number;
  workspace: string;
  settings: JobSettings;
  submittedAtMs: number;
  /** When the first task was granted; its command begins as soon as its agent has the answer. */
  startedAtMs: number | null;
  endedAtMs: number | null;
  /** `null` while tasks are open; then the outcome, set once. */
  outcome: { status: 'done' | 'error' | 'cancelled'; reason: Reason } | null;
  cancelRequested: Reason | null;
  /** Why tasks were last cancelled while the job continued. */
  tasksCancelled?: Reason;
  /** Indices from here up to taskCount were never leased. A task below has ended if it is neither leased nor requeued. */
  nextFresh: number;
  /** Tasks that were cancelled before they were ever leased, in the format of task-set.ts; absent when there are none. */
  skipped?: string;
  /** Indices that wait for another attempt, oldest first. */
  requeued: number[];
  nextLease: number;
  leases: Lease[];
  /** Past attempts of tasks that wait for another attempt or run it: index -> count. */
  attempts: Record<string, number>;
  /** Failed attempts of tasks that are retried: index -> count. */
  failures: Record<string, number>;
  /**
   * When attempts ended with their instance for an unknown reason: index -> times, oldest first. Empty for a task that only waited for its turn on
   * such an instance: no loss counts against it, but it runs alone.
   */
  losses: Record<string, number[]>;
  instances: Record<string, JobInstance>;
  counters: JobCounters;
  /** Records not yet in the archive. */
  page: TaskRecord[];
  pagesWritten: number;
  /** Since when no task has waited; absent while one waits. */
  emptySinceMs?: number;
  projection: Projection;
  /** The newest error texts, for the view. */
  recentErrors: { task: number; attempt: number; text: string; atMs: number }[];
  /** Failed attempts by cause; absent until one has failed. */
  causes?: FailureCauses;
}

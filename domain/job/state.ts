// The state of one job, as its workflow holds it and carries it across continue-as-new: plain, compact JSON.
// Only the functions of this folder change it. Nothing here knows of Temporal, HTTP or the clock: `nowMs` is passed in.
import type { MachineSettings } from '../cluster/capacity/machine-settings.ts';
import type { Projection } from '../projection.ts';
import type { Reason } from '../reason.ts';
import type { FailureCauses } from './failure-groups.ts';
import type { RetryRules } from './retry-rules.ts';

export type TaskState = 'pending' | 'assigned' | 'running' | 'done' | 'error' | 'cancelled';
/** `waiting`: in the queue, before its workflow starts. */
export type JobStatus = 'waiting' | 'pending' | 'running' | 'done' | 'error' | 'cancelled';

/** What the workflow needs to know of the job's specification; the rest stays in the object store. */
export interface JobSettings {
  name: string;
  /** The command line as people typed it, for views; never run from here. */
  command: string;
  taskCount: number;
  /** Task ids as `readStoredArray` reads them, e.g. `2,4-6,8-10` or `0-9`; the nth id belongs to index n. */
  array: string;
  /** Instances the job's cluster is asked for. */
  instances: number;
  leaseMs: number;
  /** Extra attempts for a task whose command exits other than 0. */
  retries: number;
  /** Which failures are tried again; all when absent. */
  retryOn?: RetryRules | undefined;
  /** From the first granted task; null means no limit. */
  jobTimeoutMs: number | null;
  provider: string;
  providerQueue: string;
  /** vCPU a single instance counts for in the workspace's limits. */
  instanceVcpus: number;
  /** Indices of the tasks that the head instance runs, and no others; absent when all instances run tasks alike. */
  headTasks?: number[] | undefined;
  /** No task starts before all instances are there; without one of them the job ends. */
  gang?: true | undefined;
  /** The job whose failed tasks this one runs again. */
  retryOf?: number | undefined;
  /** What it waited for before it was admitted, for views. */
  after?: { number: number; needsSuccess: boolean }[] | undefined;
  priority?: number | undefined;
  /** Its cluster ends when it has cost this much, in millionths of a dollar. */
  maxCostMicros?: number | undefined;
  /** Name of the schedule that it is a run of, for views. */
  schedule?: string | undefined;
  /** What a cloud is asked for; absent on this machine. */
  machines?: MachineSettings | undefined;
}

/** One running right to run one task. `lease` is the fencing number: it only grows within a job. */
export interface Lease {
  lease: number;
  task: number;
  attempt: number;
  instance: string;
  claim: number;
  grantedAtMs: number;
  /** Last time its agent was heard saying that it holds this lease. */
  heardAtMs: number;
  deadlineMs: number;
  /** When its command began, as far as its agent has said that it runs; null before. */
  startedAtMs: number | null;
  /** Periods of silence already forgiven because the instance exists. */
  extensions: number;
  /** Granted before its turn, and its agent has not said that it runs. */
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
  /** Set unless the exit code says it all. */
  reason: string | null;
}

/** What is remembered of an instance: its last claim, so that a repeated claim gets the same grant. */
export interface JobInstance {
  lastClaim: number;
  /** Leases recorded since that claim, to distinguish a repeated result from a stale one. */
  recorded: number[];
  lastSeenMs: number;
  /** Its cluster has lost it: it gets no more work. */
  lost: boolean;
  /** Whether it is the head instance, as its agent said. */
  head: boolean;
  /** Back with the cluster, as no task waits: it gets no more work either. */
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
  /** Attempts that failed and were tried again. */
  retried: number;
}

export interface JobState {
  v: 1;
  number: number;
  workspace: string;
  settings: JobSettings;
  submittedAtMs: number;
  /** When the first task was granted: its command begins as soon as its agent has the answer. */
  startedAtMs: number | null;
  endedAtMs: number | null;
  /** `null` while tasks are open; the outcome, set once, afterwards. */
  outcome: { status: 'done' | 'error' | 'cancelled'; reason: Reason } | null;
  cancelRequested: Reason | null;
  /** Why some tasks were cancelled while the job goes on: the last time. */
  tasksCancelled?: Reason;
  /** Indices never leased yet start here and run up to taskCount. A task below that has ended if it is neither leased nor requeued. */
  nextFresh: number;
  /** Tasks that were cancelled before they were ever leased, as task-set.ts writes them; absent without one. */
  skipped?: string;
  /** Indices that wait for another attempt, oldest first. */
  requeued: number[];
  nextLease: number;
  leases: Lease[];
  /** Attempts behind them, for tasks that wait for another or run it: index -> count. */
  attempts: Record<string, number>;
  /** Attempts whose command failed, of tasks that are tried again: index -> count. */
  failures: Record<string, number>;
  /**
   * When attempts ended with their instance for an unknown reason: index -> times, oldest first. Empty for a task that only waited
   * for its turn on such an instance: nothing counts against it, but it runs alone.
   */
  losses: Record<string, number[]>;
  instances: Record<string, JobInstance>;
  counters: JobCounters;
  /** Records not yet in the archive. */
  page: TaskRecord[];
  pagesWritten: number;
  /** Since when no task has waited; absent while one does. */
  emptySinceMs?: number;
  projection: Projection;
  /** The newest error texts, for the view. */
  recentErrors: { task: number; attempt: number; text: string; atMs: number }[];
  /** Failed attempts by cause; absent until one has failed. */
  causes?: FailureCauses;
}

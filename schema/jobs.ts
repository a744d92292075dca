// Jobs over HTTP: requests and responses.
import { z } from 'zod';

import { maxAwaited, maxPriority, minPriority } from '../domain/admission/queue.ts';
import { maxArrayChars, maxRetries, maxTasks } from '../domain/job/limits.ts';
import { containerInput, hostSetupScript } from './container.ts';
import { durationInput, listOf, listQuery, maxCostInput, nameInput, pageQuery, reason } from './common.ts';
import { jobMachinesInput } from './machines.ts';
import { ownCost } from './costs.ts';
import { planPrice } from './plans.ts';
import { filestoreName, inputFiles, inputList } from './files.ts';
import { maxSidecars, sidecarInput } from './sidecars.ts';
import { software } from './software.ts';

const envName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'an environment variable name: letters, digits and _, not starting with a digit');
export const envMap = z.record(envName, z.string().max(32 * 1024));

/** More than exist. */
const maxSentOptions = 200;

const jobNumbers = z.array(z.number().int().min(1)).max(maxAwaited);

export const jobFile = z.strictObject({
  /** Relative to the task's working directory, without `..`. */
  path: z.string().min(1).max(400),
  /** Base64. */
  content: z.base64(),
  executable: z.boolean().default(false),
  /** The user does not name it, only a script does in its lines: a file of `inputFilestore` at its path replaces it. */
  implicit: z.boolean().default(false),
});

/** One task for each value, which it finds in COILED_BATCH_TASK_INPUT and ROPEWALK_BATCH_TASK_INPUT, or for each set of variables. */
const mapOver = z.strictObject({
  /** A text is split at the delimiter, "," by default. */
  values: z.union([z.string(), z.array(z.string()).max(maxTasks)]).optional(),
  /** The content of a file, split at the delimiter, by default into lines. */
  fileContent: z.string().optional(),
  variables: z.array(z.record(z.string(), z.string())).max(maxTasks).optional(),
  /** Or more than fit in a request: an uploaded file (POST /v1/file-uploads) with the JSON of a value, or of the variables of a task, on each line. */
  list: inputList.optional(),
  delimiter: z.string().max(100).optional(),
  /** An additional variable for the value. */
  inputVar: z.string().max(1_000).optional(),
});

export const createJob = z.strictObject({
  ...jobMachinesInput,
  /** The command line, one word each. No shell interprets it; `$NAME` in a word is replaced from the task's environment. */
  command: z
    .array(z.string().max(32 * 1024))
    .min(1)
    .max(1000),
  name: nameInput.optional(),
  /** When an open job has the name, return that one instead of NAME_TAKEN. */
  getOrCreate: z.boolean().default(false),
  files: z.array(jobFile).max(1000).default([]),
  /** Uploaded files (POST /v1/file-uploads) that each task finds in its working directory. */
  inputFiles: inputFiles.default([]),
  /** Adds the present files of this filestore; those of `inputFiles` replace them. */
  inputFilestore: filestoreName.optional(),
  /** Keeps the files that tasks create or change in their working directory: with the job, or in this filestore. */
  storeFiles: z.boolean().default(false),
  outputFilestore: filestoreName.optional(),
  /** Keeps the output of tasks as files too: task-ID.out and task-ID.err. */
  pipeToFiles: z.boolean().default(false),
  /** The Python environment of the tasks, built by uv; without it tasks use the programs of the instance. */
  software: software.optional(),
  /** Or a container; exclusive with software. */
  ...containerInput,
  /** Or the name of an environment of the workspace (PUT /v1/environments/{environment}). */
  softwareName: nameInput.optional(),
  /** A script that each instance runs once, before anything else; with its `#!` line, or else by bash. */
  hostSetupScript,
  /** Tasks run on the instance itself, even where the script's header names a container. */
  runOnHost: z.boolean().optional(),
  env: envMap.default({}),
  /** Like env; separate, so clients can leave it out of their output. */
  secretEnv: envMap.default({}),
  ntasks: z.number().int().min(1).max(maxTasks).optional(),
  /** Array syntax, e.g. `2,4-6,8-10` or `0-10:2`; `%N` at its end limits the tasks that run at a time to N. */
  array: z.string().min(1).max(maxArrayChars).optional(),
  mapOver: mapOver.optional(),
  /** Maximum number of instances; -1 for no limit. */
  maxWorkers: z.number().int().min(-1).max(10_000).optional(),
  /** True: the head instance runs only the task with the lowest id. False: it runs none. By default it runs tasks like all instances. */
  taskOnScheduler: z.boolean().optional(),
  /** Containers that run on the head instance, beside its tasks, until the job has ended. */
  schedulerSidecars: z.array(sidecarInput).max(maxSidecars).optional(),
  /** Array syntax: the only tasks that the head instance runs. */
  schedulerTaskArray: z.string().min(1).max(10_000).optional(),
  /** No task starts before all instances are ready; the job ends if one of them is unavailable. */
  waitForReadyCluster: z.boolean().optional(),
  /** Starts after these jobs have ended, whatever their outcome. */
  after: jobNumbers.optional(),
  /** Starts after these jobs have ended as done; cancelled when one of them ends otherwise. */
  afterOk: jobNumbers.optional(),
  /** Waits for room in the quota instead of being refused; among waiting jobs, the highest number starts first. */
  priority: z.number().int().min(minPriority).max(maxPriority).optional(),
  retries: z.number().int().min(0).max(maxRetries).optional(),
  /** Failures to retry: exit codes, ranges and `signal`, e.g. `75,100-120,signal`; all by default. */
  retryOnExit: z.string().min(1).max(1_000).optional(),
  /** A task that runs longer gets TERM, 10 s later KILL, and fails with exit code 124. */
  taskTimeout: durationInput.optional(),
  jobTimeout: durationInput.optional(),
  /** Ends the job when its instances have cost this much, in US dollars. */
  maxCost: maxCostInput.optional(),
  /** How long an instance may be silent before its task is checked. */
  lease: durationInput.optional(),
  /** An instance ends itself after this long without an answer from the control plane; default 30 minutes. */
  watchdogTimeout: durationInput.optional(),
  /** Other users see only that it exists, and its status; its command, tasks, events and output are visible only to its creator. */
  privateToCreator: z.boolean().default(false),
  /** Further options by their command-line name, e.g. `memory`: they cause warnings or are refused, like those of the header. */
  options: z
    .record(z.string().max(100), z.string().max(10_000))
    .refine((options) => Object.keys(options).length <= maxSentOptions, `at most ${maxSentOptions} options`)
    .optional(),
  /** Options of the script's header that the client has applied, e.g. `env-file`, because only the client can read the user's files. */
  clientOptions: z.array(z.string().max(100)).max(100).optional(),
});
export type CreateJob = z.input<typeof createJob>;
export type CreateJobParsed = z.output<typeof createJob>;

/** Maximum characters of task ids in one request; a workflow receives them unchanged. */
export const maxTasksText = 10_000;

/** POST /v1/jobs/{number}/tasks/cancel. */
export const cancelTasks = z.strictObject({
  /** Task ids in array syntax, e.g. `3,7-9`. */
  tasks: z
    .string()
    .min(1)
    .max(maxTasksText, `at most ${maxTasksText} characters: write ranges, such as 3-90:3, or send several requests`),
});
export type CancelTasks = z.infer<typeof cancelTasks>;

/** POST /v1/jobs/{number}/retry. */
export const retryJob = z.strictObject({
  /** Memory of each instance: a factor of the job's memory, e.g. `2x`, or a size. */
  memory: z.string().max(50).optional(),
  /** Retries also the tasks that a user cancelled. */
  cancelled: z.boolean().optional(),
  /** Allowed also while another job that retries the same tasks is open. */
  again: z.boolean().optional(),
});
export type RetryJob = z.input<typeof retryJob>;

export const createdJob = z.object({
  number: z.number().int(),
  name: z.string(),
  /** True when an equal request with the same Idempotency-Key, or getOrCreate, found an earlier job. */
  existing: z.boolean(),
  /** Options without effect here, one sentence each. */
  warnings: z.array(z.string()),
  /** Why it waits for an admin's approval, with status `waiting`: nothing is launched before. */
  needsApproval: z.string().optional(),
  /** Temporal is unavailable: the job is accepted, and starts when Temporal is available again. */
  acceptedForLater: z.literal(true).optional(),
  /** For a new job on a cloud: the price of all its instances together. */
  pricePerHour: planPrice.optional(),
});
export type CreatedJob = z.infer<typeof createdJob>;

export const jobStatus = z.enum(['waiting', 'pending', 'running', 'done', 'error', 'cancelled']);
/** `unknown`: it has ended, but its record is damaged. */
export const taskState = z.enum(['pending', 'assigned', 'running', 'done', 'error', 'cancelled', 'unknown']);
const count = z.number().int();
const time = z.iso.datetime().nullable();

export const job = z.object({
  number: count,
  workspace: z.string(),
  name: z.string(),
  command: z.string(),
  status: jobStatus,
  reason: reason.nullable(),
  user: z.string(),
  tasks: z.object({
    total: count,
    pending: count,
    assigned: count,
    running: count,
    done: count,
    error: count,
    cancelled: count,
  }),
  counters: z.object({ stale: count, repeated: count, lost: count, retried: count }),
  /** Task ids in array syntax; ends with `...` when longer than 1,000 characters. */
  array: z.string(),
  instances: count,
  submittedAt: z.iso.datetime(),
  startedAt: time,
  endedAt: time,
  recentErrors: z.array(z.object({ task: count, attempt: count, text: z.string(), at: z.iso.datetime() })),
  /** Failed attempts by cause, the most frequent first: `EXIT_1`, `SIGKILL`, `INSTANCE_LOST`. */
  failures: z.array(z.object({ code: z.string(), text: z.string(), count, lastAt: z.iso.datetime() })).optional(),
  /** The job whose failed tasks this one retries. */
  retryOf: count.optional(),
  /** The jobs that it waits for, or waited for. */
  after: z.array(count).optional(),
  /** The same, for jobs that must end as done. */
  afterOk: z.array(count).optional(),
  priority: z.number().int().optional(),
  /** Name of the schedule that submitted it. */
  schedule: z.string().optional(),
  /** Set for an outdated answer, because Temporal is unavailable. */
  staleSince: time,
  /** The approximate cost of its instances so far; only in lists and single reads. */
  cost: ownCost.optional(),
  /** Temporal is unavailable, or the job has not started yet: the command to end it is stored and delivered later. */
  acceptedForLater: z.literal(true).optional(),
  /** Private to another user: fields that only its creator may see are empty. */
  withheld: z.literal(true).optional(),
});
export type Job = z.infer<typeof job>;

export const task = z.object({
  id: count,
  index: count,
  state: taskState,
  attempt: count,
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  instance: z.string().nullable(),
  startedAt: time,
  endedAt: time,
  reason: z.string().nullable(),
  /**
   * Approximate: the time of its newest attempt at the price of its instance. Null before a start. The sum of all tasks is at most the job's cost.
   */
  cost: z.object({ dollars: z.number() }).nullable(),
});
export type Task = z.infer<typeof task>;

export const jobPage = z.object({ items: z.array(job), next: z.string().nullable() });
export type JobPage = z.infer<typeof jobPage>;
export const taskPage = z.object({ items: z.array(task), next: z.string().nullable() });
export type TaskPage = z.infer<typeof taskPage>;

export const tasksQuery = pageQuery.extend({
  /** Only tasks in these states, separated by commas. */
  state: listOf(taskState).optional(),
});
export type TasksQuery = z.output<typeof tasksQuery>;

/** All tasks of a job, in the order of their index, in compact form. */
export const taskStates = z.object({
  total: count,
  /**
   * 1 up to 100,000 tasks. Above, a cell has the first of these states that one of its tasks has: error, unknown, running, assigned, pending,
   * cancelled, done.
   */
  tasksPerCell: count,
  /** Consecutive cells with the same state; the last cell may stand for fewer tasks. */
  runs: z.array(z.object({ state: taskState, count })),
  /** Durations of tasks whose attempt has started and ended; `toMs` belongs to the next class. */
  durations: z.array(z.object({ fromMs: z.number(), toMs: z.number(), count })),
});
export type TaskStates = z.infer<typeof taskStates>;

export const logsQuery = z.object({
  /** Array syntax: only the logs of these task ids. */
  tasks: z.string().max(1000).optional(),
  follow: z.enum(['true', 'false']).default('false'),
  since: z.iso.datetime().optional(),
});

/** One line of `application/x-ndjson`. */
export const logLine = z.object({
  at: z.iso.datetime(),
  instance: z.string(),
  task: count.nullable(),
  attempt: count.nullable(),
  stream: z.enum(['stdout', 'stderr', 'agent']),
  text: z.string(),
});
export type LogLine = z.infer<typeof logLine>;

export const listJobsQuery = listQuery.extend({ name: nameInput.optional(), status: listOf(jobStatus).optional() });
export type ListJobsQuery = z.output<typeof listJobsQuery>;

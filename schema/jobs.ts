// Jobs over HTTP: what a caller sends, what it gets.
import { z } from 'zod';

import { maxRetries, maxTasks } from '../domain/limits.ts';
import { durationInput, listOf, listQuery, reason } from './common.ts';
import { jobMachinesInput } from './machines.ts';
import { planPrice } from './plans.ts';
import { software } from './software.ts';

const envName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'an environment variable name: letters, digits and _, not starting with a digit');
export const envMap = z.record(envName, z.string().max(32 * 1024));

/** A name that people can type: also the cluster's name. */
export const nameInput = z
  .string()
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/,
    'letters, digits, ".", "_" and "-", starting with a letter or digit, at most 100',
  );

export const jobFile = z.strictObject({
  /** Relative to the task's working directory, no `..`. */
  path: z.string().min(1).max(400),
  /** Base64. */
  content: z.base64(),
  executable: z.boolean().default(false),
});

export const createJob = z.strictObject({
  ...jobMachinesInput,
  /** The command line, one word each. No shell sees it; `$NAME` in a word is replaced from the task's environment. */
  command: z
    .array(z.string().max(32 * 1024))
    .min(1)
    .max(1000),
  name: nameInput.optional(),
  /** When the name is taken by an open job: answer that one instead of NAME_TAKEN. */
  getOrCreate: z.boolean().default(false),
  files: z.array(jobFile).max(1000).default([]),
  /** The Python environment of the tasks, built by uv; without it tasks have the programs of the instance. */
  software: software.optional(),
  env: envMap.default({}),
  /** Like env; named apart so that clients can keep it out of what they print. */
  secretEnv: envMap.default({}),
  ntasks: z.number().int().min(1).max(maxTasks).optional(),
  /** Array syntax, e.g. `2,4-6,8-10` or `0-10:2`. */
  array: z.string().min(1).max(10_000).optional(),
  /** Most instances; -1 means no limit. */
  maxWorkers: z.number().int().min(-1).max(10_000).optional(),
  retries: z.number().int().min(0).max(maxRetries).optional(),
  jobTimeout: durationInput.optional(),
  /** How long an instance may be silent before its task is looked into. */
  lease: durationInput.optional(),
  /** An instance ends itself after this long without an answer from the control plane; 30 minutes by default. */
  watchdogTimeout: durationInput.optional(),
  /** Others see that it is there and how it stands; its command, tasks, events and output are its creator's alone. */
  privateToCreator: z.boolean().default(false),
  /** Further options by their command-line name, e.g. `memory`: answered as warnings, or refused, like the header's. */
  options: z.record(z.string().max(100), z.string().max(10_000)).optional(),
});
export type CreateJob = z.input<typeof createJob>;
export type CreateJobParsed = z.output<typeof createJob>;

export const createdJob = z.object({
  number: z.number().int(),
  name: z.string(),
  /** True when an equal request with the same Idempotency-Key, or getOrCreate, found an earlier job. */
  existing: z.boolean(),
  /** Options that have no effect here, in sentences. */
  warnings: z.array(z.string()),
  /** Temporal is unavailable: the job is accepted, and starts when Temporal is available again. */
  acceptedForLater: z.literal(true).optional(),
  /** Of a new one on a cloud, all its instances together. */
  pricePerHour: planPrice.optional(),
});
export type CreatedJob = z.infer<typeof createdJob>;

export const jobStatus = z.enum(['pending', 'running', 'done', 'error', 'cancelled']);
/** `unknown`: it has ended, and its record is damaged. */
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
  array: z.string(),
  instances: count,
  submittedAt: z.iso.datetime(),
  startedAt: time,
  endedAt: time,
  recentErrors: z.array(z.object({ task: count, attempt: count, text: z.string(), at: z.iso.datetime() })),
  /** Set when the answer is not fresh: Temporal could not be reached. */
  staleSince: time,
  /** Temporal is unavailable, or it has not started yet: the command to end it is stored and delivered later. */
  acceptedForLater: z.literal(true).optional(),
  /** It is private to somebody else: what only its creator may see is left empty. */
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
});
export type Task = z.infer<typeof task>;

export const jobPage = z.object({ items: z.array(job), next: z.string().nullable() });
export type JobPage = z.infer<typeof jobPage>;
export const taskPage = z.object({ items: z.array(task), next: z.string().nullable() });
export type TaskPage = z.infer<typeof taskPage>;

export const logsQuery = z.object({
  /** Array syntax: only these task ids. */
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

export const eventsQuery = z.object({
  follow: z.enum(['true', 'false']).default('false'),
  since: z.iso.datetime().optional(),
});

/** What happened to a job: one line of `application/x-ndjson`. */
export const jobEvent = z.object({
  at: z.iso.datetime(),
  code: z.string(),
  text: z.string(),
  /** The user who asked for it, when one did. */
  by: z.string().nullable().optional(),
});
export type JobEvent = z.infer<typeof jobEvent>;

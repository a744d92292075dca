// Resolves a request and its script's header to the settings of a job. Explicit fields override the header. An unsupported option that would change
// the run is refused; one without effect here is reported as a warning. No option is silently ignored.
import type { QueueRequest } from '../admission/queue.ts';
import type { BatchHeader, HeaderOption } from '../batch-header.ts';
import { microsOf } from '../cost/interval.ts';
import { RopewalkError } from '../errors.ts';
import { defaultLeaseMs, defaultMaxWorkers, maxRetries } from './limits.ts';
import { defaultWatchdogTimeoutMs } from '../liveness/limits.ts';
import { describeCommand } from './command.ts';
import { readFileOptions, type FileOptions, type FilesInput } from './file-options.ts';
import { leasePeriod, lifeOf, positiveMs, taskLimit, watchdogLimit } from './durations.ts';
import { atLine, flag, integer, invalid, type KnownOptions } from './header-values.ts';
import type { TaskInputs } from './inputs.ts';
import { instancesFor, readHeadTasks, type PlacementInput } from './placement.ts';
import { readQueue, type QueueInput } from './queue-options.ts';
import { readHeader } from './read-header.ts';
import { readRetryRules, type RetryRules } from './retry-rules.ts';
import { readTaskList, type TaskListInput } from './task-list.ts';

/** The fields of POST /v1/jobs that this file uses, by structure. */
export interface JobInput extends TaskListInput, PlacementInput, FilesInput, QueueInput {
  command: readonly string[];
  name?: string | undefined;
  maxWorkers?: number | undefined;
  waitForReadyCluster?: boolean | undefined;
  retries?: number | undefined;
  retryOnExit?: string | undefined;
  taskTimeout?: string | number | undefined;
  jobTimeout?: string | number | undefined;
  maxCost?: number | undefined;
  lease?: string | number | undefined;
  watchdogTimeout?: string | number | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  secretEnv?: Readonly<Record<string, string>> | undefined;
  /** Options without a field of their own, by name; clients pass them on without interpreting them. */
  options?: Readonly<Record<string, string>> | undefined;
  /** Options of the header that the client has already applied. */
  clientOptions?: readonly string[] | undefined;
}

export interface JobDefaults {
  /** Maximum number of instances that the provider can give one job here. */
  maxInstances: number;
  leaseMs?: number;
  retries?: number;
  /** True on a cloud, where machine options have an effect; false on a host. */
  choosesMachines?: boolean;
}

export interface ResolvedJob {
  /** Empty when the request has no name: admission then derives the name from the job's number. */
  name: string;
  /** The command line as text for views, at most 200 characters, without control characters. Never run from here. */
  command: string;
  taskCount: number;
  /** Canonical array syntax of taskCount ids. */
  array: string;
  /** Null when tasks have only their id. */
  inputs: TaskInputs | null;
  instances: number;
  /** Indices of the head instance's own tasks; absent when all instances run any task. */
  headTasks?: number[];
  /** Starts with all instances or not at all. */
  gang?: true;
  /** Set when the job waits for other jobs, or for room in the quota. */
  queue?: QueueRequest;
  retries: number;
  /** The failures to retry; all when absent. */
  retryOn?: RetryRules;
  /** Null means no limit. */
  taskTimeoutMs: number | null;
  leaseMs: number;
  /** An instance without an answer from the API for this long ends itself. */
  watchdogTimeoutMs: number;
  /** Null means no limit. */
  jobTimeoutMs: number | null;
  /** The cost limit of its cluster, in millionths of a dollar; no limit when absent. */
  maxCostMicros?: number;
  /** The header's environment, overridden by the caller's. */
  env: Record<string, string>;
  /** Like env, but overrides it. */
  secretEnv: Record<string, string>;
  files: FileOptions;
  /** Options without effect here, one sentence each. */
  warnings: string[];
}

/** Merges input over header over defaults. Throws VALIDATION naming the field, or the option with its line. */
export function resolveJob(input: JobInput, header: BatchHeader, defaults: JobDefaults): ResolvedJob {
  const { known, warnings } = readHeader(header, input, defaults.choosesMachines === true);
  const { array, inputs, atOnce } = readTaskList(input, known);
  const headTasks = readHeadTasks(placementOf(input, known), array);
  const maxWorkers = workerLimit(input.maxWorkers ?? integer(known, 'max-workers', -1));
  const retries = input.retries ?? integer(known, 'retries', 0, maxRetries) ?? defaults.retries ?? 0;
  const rules = retryRules(input.retryOnExit, known);
  return {
    name: input.name ?? headerName(known),
    command: describeCommand(input.command),
    taskCount: array.count,
    array: array.canonical,
    inputs,
    // An instance runs one task at a time.
    instances: instancesOf(array.count, headTasks, Math.min(maxWorkers, atOnce ?? array.count), defaults.maxInstances),
    ...(headTasks === undefined ? {} : { headTasks }),
    ...((input.waitForReadyCluster ?? flag(known, 'wait-for-ready-cluster')) === true ? { gang: true } : {}),
    ...readQueue(input, known),
    retries,
    ...rules,
    taskTimeoutMs: explicitOrHeader(input.taskTimeout, known.get('task-timeout'), (value) => taskLimit(value)),
    leaseMs: explicitOrHeader(input.lease, known.get('lease'), leasePeriod) ?? defaults.leaseMs ?? defaultLeaseMs,
    watchdogTimeoutMs:
      explicitOrHeader(input.watchdogTimeout, known.get('watchdog-timeout'), watchdogLimit) ?? defaultWatchdogTimeoutMs,
    jobTimeoutMs: explicitOrHeader(input.jobTimeout, known.get('job-timeout'), (value) =>
      lifeOf(positiveMs(value, 'jobTimeout')),
    ),
    ...maxCostOf(input.maxCost, known),
    env: { ...headerEnv(header, 'env'), ...input.env },
    secretEnv: { ...headerEnv(header, 'secret-env'), ...input.secretEnv },
    files: readFileOptions(input, known),
    warnings: retries === 0 && Object.keys(rules).length > 0 ? [...warnings, noRetries] : warnings,
  };
}

const noRetries = 'retry-on-exit has no effect without retries: say how many, for example with retries 2.';

function maxCostOf(explicit: number | undefined, known: KnownOptions): { maxCostMicros?: number } {
  if (explicit !== undefined) return { maxCostMicros: microsOf(explicit) };
  const option = known.get('max-cost');
  if (option === undefined) return {};
  const dollars = /^\$?\d{1,6}(\.\d{1,6})?$/.test(option.value) ? Number(option.value.replace('$', '')) : 0;
  if (dollars > 0) return { maxCostMicros: microsOf(dollars) };
  throw invalid(option, 'needs an amount of US dollars', 'Write for example: # ROPEWALK max-cost 12.50');
}

function retryRules(explicit: string | undefined, known: KnownOptions): { retryOn?: RetryRules } {
  const option = known.get('retry-on-exit');
  if (explicit !== undefined) return { retryOn: readRetryRules(explicit) };
  return option === undefined ? {} : { retryOn: atLine(option, () => readRetryRules(option.value)) };
}

/** The header counts only when the request sets neither option. */
function placementOf(input: JobInput, known: KnownOptions): PlacementInput {
  const { taskOnScheduler, schedulerTaskArray } = input;
  if (taskOnScheduler !== undefined || schedulerTaskArray !== undefined) return { taskOnScheduler, schedulerTaskArray };
  const never = flag(known, 'no-task-on-scheduler');
  return {
    taskOnScheduler: never === undefined ? flag(known, 'task-on-scheduler') : !never,
    schedulerTaskArray: known.get('scheduler-task-array')?.value,
  };
}

function instancesOf(taskCount: number, headTasks: number[] | undefined, maxWorkers: number, max: number): number {
  const wanted = Math.max(1, instancesFor(taskCount, headTasks, maxWorkers));
  const instances = Math.min(wanted, max);
  if (headTasks === undefined || instances > 1 || headTasks.length === taskCount) return instances;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'schedulerTaskArray',
    message: 'Some tasks are for workers, and this provider gives the job one instance: its head.',
    hint: 'Let the head instance run all tasks.',
  });
}

function workerLimit(wanted: number | undefined): number {
  if (wanted === undefined) return defaultMaxWorkers;
  if (wanted === -1) return Number.POSITIVE_INFINITY;
  if (wanted >= 1) return wanted;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `maxWorkers: ${wanted} workers cannot run anything`,
    field: 'maxWorkers',
    hint: 'Give at least 1, or -1 for no limit.',
  });
}

function explicitOrHeader(
  explicit: string | number | undefined,
  option: HeaderOption | undefined,
  parse: (value: string | number) => number,
): number | null {
  if (explicit !== undefined) return parse(explicit);
  return option === undefined ? null : atLine(option, () => parse(option.value));
}

const nameSyntax = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/;

function headerName(known: KnownOptions): string {
  const option = known.get('name');
  if (option === undefined || nameSyntax.test(option.value)) return option?.value ?? '';
  throw invalid(option, 'is not a name', 'Use letters, digits, ".", "_" and "-", at most 100.');
}

/** The error leaves out values, because they may be secrets. */
function headerEnv(header: BatchHeader, name: 'env' | 'secret-env'): Record<string, string> {
  const env: Record<string, string> = {};
  for (const option of header.options.filter((each) => each.name === name)) {
    const pair = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(option.value);
    if (pair === null) throw invalid(option, 'is not KEY=value', 'Write for example: # ROPEWALK env MODE=fast');
    env[pair[1] ?? ''] = pair[2] ?? '';
  }
  return env;
}

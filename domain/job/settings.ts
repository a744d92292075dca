// From what a caller sent and what the script's header says to what runs. Explicit fields win over the header.
// An option that we cannot honour and that would change what runs is refused; one that merely has no effect here is
// told as a warning. Never silently ignored.
import type { BatchHeader, HeaderOption } from '../batch-header.ts';
import { RopewalkError } from '../errors.ts';
import {
  defaultDeadManMs,
  defaultLeaseMs,
  defaultMaxWorkers,
  maxDeadManMs,
  maxRetries,
  sealedForDays,
  minDeadManMs,
  minLeaseMs,
} from '../limits.ts';
import { nearName } from '../near-name.ts';
import { parseDurationMs } from '../units.ts';
import type { JobArray } from './array.ts';
import { arrayOfCount, parseArray } from './array.ts';
import { describeCommand } from './command.ts';
import { machineOptions } from './machine-options.ts';
import { noEffect, refused } from './options.ts';

/** The fields of POST /v1/jobs that this file reads, by structure. */
export interface JobInput {
  command: readonly string[];
  name?: string | undefined;
  ntasks?: number | undefined;
  array?: string | undefined;
  maxWorkers?: number | undefined;
  retries?: number | undefined;
  jobTimeout?: string | number | undefined;
  lease?: string | number | undefined;
  watchdogTimeout?: string | number | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  secretEnv?: Readonly<Record<string, string>> | undefined;
  /** Options that are no field of their own, by name: clients send them on without knowing what they mean. */
  options?: Readonly<Record<string, string>> | undefined;
}

export interface JobDefaults {
  /** Most instances the provider can give one job here. */
  maxInstances: number;
  leaseMs?: number;
  retries?: number;
  /** Options about machines are honoured by whoever chooses them; otherwise they have no effect. */
  choosesMachines?: boolean;
}

export interface ResolvedJob {
  /** Empty when nobody named the job: admission then names it after its number. */
  name: string;
  /** The command line as text for people, at most 200 characters, without control characters. Never run from here. */
  command: string;
  taskCount: number;
  /** Canonical array syntax of taskCount ids. */
  array: string;
  instances: number;
  retries: number;
  leaseMs: number;
  /** An instance that nobody has answered for this long ends by itself. */
  deadManMs: number;
  /** Null means no limit. */
  jobTimeoutMs: number | null;
  /** The header's environment under the caller's. */
  env: Record<string, string>;
  /** Like env, and stronger: a name that is in both has this value. */
  secretEnv: Record<string, string>;
  /** Options that have no effect here, a sentence each. */
  warnings: string[];
}

/** No silence may be longer: a task whose instance died would wait for it. */
export const maxLeaseMs = 24 * 3_600_000;

/** Merges input over header over defaults. Throws VALIDATION that names the field or the option with its line. */
export function resolveJob(input: JobInput, header: BatchHeader, defaults: JobDefaults): ResolvedJob {
  const { known, warnings } = readHeader(header, input.options ?? {}, defaults.choosesMachines === true);
  const array = taskArray(input, known);
  const maxWorkers = workerLimit(input.maxWorkers ?? integer(known, 'max-workers', -1));
  return {
    name: input.name ?? headerName(known),
    command: describeCommand(input.command),
    taskCount: array.count,
    array: array.canonical,
    instances: Math.max(1, Math.min(array.count, maxWorkers, defaults.maxInstances)),
    retries: input.retries ?? integer(known, 'retries', 0, maxRetries) ?? defaults.retries ?? 0,
    leaseMs: explicitOrHeader(input.lease, known.get('lease'), leasePeriod) ?? defaults.leaseMs ?? defaultLeaseMs,
    deadManMs:
      explicitOrHeader(input.watchdogTimeout, known.get('watchdog-timeout'), watchdogLimit) ?? defaultDeadManMs,
    jobTimeoutMs: explicitOrHeader(input.jobTimeout, known.get('job-timeout'), (value) =>
      lifeOf(positiveMs(value, 'jobTimeout')),
    ),
    env: { ...headerEnv(header, 'env'), ...input.env },
    secretEnv: { ...headerEnv(header, 'secret-env'), ...input.secretEnv },
    warnings,
  };
}

function lifeOf(jobTimeoutMs: number): number {
  if (jobTimeoutMs <= sealedForDays * 86_400_000) return jobTimeoutMs;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'jobTimeout',
    message: `jobTimeout: must be at most ${sealedForDays} days.`,
    hint: 'What a job is started with is kept no longer than that: later it could get no new instance going.',
  });
}

type KnownOptions = Map<string, HeaderOption>;

const honoured = new Set([
  'name',
  'ntasks',
  'array',
  'max-workers',
  'retries',
  'job-timeout',
  'lease',
  'watchdog-timeout',
  'env',
  'secret-env',
]);

/** The last line of an option counts, as on a command line. */
function readHeader(
  header: BatchHeader,
  sent: Readonly<Record<string, string>>,
  choosesMachines: boolean,
): { known: KnownOptions; warnings: string[] } {
  const known: KnownOptions = new Map();
  const warnings = new Set(header.problems.map(({ line, message }) => `Line ${line} of the script: ${message}.`));
  for (const option of header.options) {
    if (honoured.has(option.name)) known.set(option.name, option);
    else if (choosesMachines && machineOptions.has(option.name)) continue;
    // What the caller says of an option counts; the header's line on it would only be told a second time.
    else if (!Object.hasOwn(sent, option.name)) warnings.add(judge(option.name, option));
  }
  for (const name of Object.keys(sent)) {
    if (!choosesMachines || !machineOptions.has(name)) warnings.add(judge(name, null));
  }
  return { known, warnings: [...warnings] };
}

/** The warning for an option that is not honoured; throws when running without it would run something else. */
function judge(name: string, place: HeaderOption | null): string {
  const effect = noEffect.get(name);
  if (effect !== undefined)
    return `${name}${place === null ? '' : ` (line ${place.line})`} has no effect here: ${effect}.`;
  const why = refused.get(name);
  if (why !== undefined) throw unusable(name, place, `is not supported: ${why}`, 'Leave it out to run without.');
  const near = nearName(name, [...honoured, ...machineOptions, ...noEffect.keys(), ...refused.keys()]);
  const meant = near === null ? '' : `; did you mean ${near}?`;
  throw unusable(name, place, `is not an option${meant}`, `Options that work here: ${[...honoured].join(', ')}.`);
}

function unusable(name: string, place: HeaderOption | null, what: string, hint: string): RopewalkError {
  if (place === null) {
    return new RopewalkError({ code: 'VALIDATION', message: `${name} ${what}`, field: `options.${name}`, hint });
  }
  const message = `Line ${place.line}, column ${place.column} of the script: ${name} ${what}`;
  return new RopewalkError({ code: 'VALIDATION', message, field: fieldOf(name), hint });
}

/** A caller who says how many tasks, or which, has decided: the header's word on it, either way, does not count then. */
function taskArray(input: JobInput, known: KnownOptions): JobArray {
  if (input.ntasks !== undefined && input.array !== undefined)
    throw bothNamed('ntasks and array are both set', 'array');
  if (input.array !== undefined) return parseArray(input.array);
  if (input.ntasks !== undefined) return arrayOfCount(input.ntasks);
  const count = known.get('ntasks');
  const array = known.get('array');
  if (count !== undefined && array !== undefined) {
    throw bothNamed(`the script sets both ntasks (line ${count.line}) and array (line ${array.line})`, 'array');
  }
  if (array !== undefined) return atLine(array, () => parseArray(array.value));
  const tasks = integer(known, 'ntasks', 1);
  return count === undefined || tasks === undefined ? arrayOfCount(1) : atLine(count, () => arrayOfCount(tasks));
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

function leasePeriod(value: string | number): number {
  const leaseMs = positiveMs(value, 'lease');
  if (leaseMs >= minLeaseMs && leaseMs <= maxLeaseMs) return leaseMs;
  const message = `lease: must be between ${minLeaseMs / 1_000} second and ${maxLeaseMs / 3_600_000} hours`;
  throw new RopewalkError({ code: 'VALIDATION', message, field: 'lease' });
}

function watchdogLimit(value: string | number): number {
  const deadManMs = positiveMs(value, 'watchdogTimeout');
  if (deadManMs >= minDeadManMs && deadManMs <= maxDeadManMs) return deadManMs;
  const message = `watchdogTimeout: must be between ${minDeadManMs / 1_000} seconds and ${maxDeadManMs / 86_400_000} days`;
  throw new RopewalkError({ code: 'VALIDATION', message, field: 'watchdogTimeout' });
}

function positiveMs(value: string | number, field: string): number {
  const ms = parseDurationMs(value, field);
  if (ms > 0) return ms;
  throw new RopewalkError({ code: 'VALIDATION', message: `${field}: must be more than nothing`, field });
}

const nameSyntax = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/;

function headerName(known: KnownOptions): string {
  const option = known.get('name');
  if (option === undefined || nameSyntax.test(option.value)) return option?.value ?? '';
  throw invalid(option, 'is not a name', 'Use letters, digits, ".", "_" and "-", at most 100.');
}

/** Values stay out of the error: they may be secrets. */
function headerEnv(header: BatchHeader, name: 'env' | 'secret-env'): Record<string, string> {
  const env: Record<string, string> = {};
  for (const option of header.options.filter((each) => each.name === name)) {
    const pair = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(option.value);
    if (pair === null) throw invalid(option, 'is not KEY=value', 'Write for example: # ROPEWALK env MODE=fast');
    env[pair[1] ?? ''] = pair[2] ?? '';
  }
  return env;
}

function integer(known: KnownOptions, name: string, min: number, max = Number.MAX_SAFE_INTEGER): number | undefined {
  const option = known.get(name);
  if (option === undefined) return undefined;
  const value = /^-?\d{1,15}$/.test(option.value) ? Number(option.value) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  throw invalid(option, 'needs a whole number', `Give a number ${range}.`);
}

/** Adds the script's line to what a parser says. */
function atLine<T>(option: HeaderOption, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    const message = `Line ${option.line} of the script: ${error.problem.message}`;
    throw new RopewalkError({ ...error.problem, message, field: fieldOf(option.name) }, { cause: error });
  }
}

function invalid(option: HeaderOption, what: string, hint: string): RopewalkError {
  const message = `Line ${option.line} of the script: ${option.name} ${what}`;
  return new RopewalkError({ code: 'VALIDATION', message, field: fieldOf(option.name), hint });
}

function bothNamed(message: string, field: string): RopewalkError {
  return new RopewalkError({ code: 'VALIDATION', message, field, hint: 'Keep one of the two.' });
}

/** The header says `max-workers`, the API `maxWorkers`. */
function fieldOf(option: string): string {
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

// The command lines and environments of `dask scheduler` and `dask worker`. Pure. All ports for other machines use mutual TLS;
// HTTP listens on loopback only; no argument contains a secret.
import { dirname, join } from 'node:path';

import type { Command } from '../processes/start-process.ts';
import type { Runtime, Variables } from '../runtimes/runtime.ts';
import { workerNames } from './worker-name.ts';
import { reservedOption, reservedSchedulerOptions, reservedWorkerOptions } from '../../domain/cluster/dask/options.ts';

export interface DaskProcess extends Command {
  argv: string[];
  /** Files to write into `cwd` before the start, readable by their owner only. */
  files: { path: string; content: string }[];
}

/** Names of existing files, readable by their owner only. */
export interface TlsFiles {
  caFile: string;
  certFile: string;
  keyFile: string;
}

export interface Place {
  instance: string;
  /** Includes dask and distributed. */
  runtime: Pick<Runtime, 'python' | 'variables'>;
  /** Created for this start of the process: its working directory, and workers' spill directory. */
  directory: string;
  /** The instance's address, for other instances. */
  host: string;
  /** 0 selects a free port. */
  port: number;
  tls: TlsFiles;
  /** PATH, HOME, LANG and TMPDIR of the agent. */
  base: Variables;
  /** Variables of the cluster's owner. Variables for the cluster's security override them. */
  env: Record<string, string>;
}

export interface SchedulerInput extends Place {
  socketPath: string;
  preloadPath: string;
  /** Its notebooks are clients of the cluster. */
  jupyter?: boolean;
  /** Kinds of usage that the preload counts. */
  usage?: readonly string[];
  /** The workers share one machine: the preload keeps the sum of their memory limits below its memory. */
  sharesMemory?: boolean;
  /** The dashboard's port, on loopback; 0 selects a free one. */
  httpPort: number;
  schedulerClass?: string;
  schedulerOptions?: Record<string, unknown>;
}

export interface WorkerInput extends Place {
  /** `file`: Dask will find the address there, as `{"address": ...}`; only for workers without a custom class or options. */
  scheduler: { address: string } | { file: string };
  /** `{cluster}-worker-{suffix}`: the scheduler uses the same name. */
  name: string;
  /** Default: the number of cores. */
  nthreads?: number;
  /**
   * A number of bytes, Dask's text for one, or a fraction of the memory below 1. Default: the instance's memory, shared by its
   * threads.
   */
  memoryLimit?: number | string;
  /** Number of workers, each under its own nanny and named `NAME-0`, `NAME-1`...; a single one is named NAME. */
  count?: number;
  /** Without a nanny, a worker that dies is not restarted. Default true. */
  nanny?: boolean;
  workerClass?: string;
  workerOptions?: Record<string, unknown>;
}

const loopback = '127.0.0.1';

export function schedulerProcess(input: SchedulerInput): DaskProcess {
  const { schedulerClass, schedulerOptions } = input;
  const env = {
    ...environment(input, input.jupyter === true ? ['SCHEDULER', 'CLIENT'] : ['SCHEDULER']),
    ROPEWALK_SCHEDULER_SOCKET: input.socketPath,
    ROPEWALK_USAGE: (input.usage ?? []).join(','),
    ROPEWALK_SHARES_MEMORY: input.sharesMemory === true ? '1' : '0',
  };
  const mounts = [input.tls.caFile, input.socketPath, input.preloadPath].map((path) => dirname(path));
  if (schedulerClass === undefined && schedulerOptions === undefined) {
    const options = {
      '--host': input.host,
      '--port': input.port,
      '--protocol': 'tls',
      '--dashboard-address': `${loopback}:${input.httpPort}`,
      '--preload': input.preloadPath,
    };
    return { argv: dask(input, ['scheduler', ...flags(options)]), env, cwd: input.directory, mounts, files: [] };
  }
  refuseReserved('schedulerOptions', schedulerOptions, reservedSchedulerOptions);
  const opts = {
    ...schedulerOptions,
    host: input.host,
    port: input.port,
    protocol: 'tls',
    dashboard_address: `${loopback}:${input.httpPort}`,
    // User preloads run last: their failure must not leave a scheduler without our reports.
    preload: [input.preloadPath, ...asList(schedulerOptions?.['preload'])],
  };
  const spec = { cls: schedulerClass ?? 'distributed.Scheduler', opts };
  return { ...fromSpec(input, env, spec, []), mounts };
}

export function workerProcess(input: WorkerInput): DaskProcess {
  const { scheduler, workerClass, workerOptions, count = 1, nanny = true } = input;
  // A task that submits more tasks is a client of its own scheduler.
  const env = environment(input, ['WORKER', 'CLIENT']);
  const read = [input.tls.caFile, ...('file' in scheduler ? [scheduler.file] : [])];
  const mounts = [...new Set(read.map((path) => dirname(path)))];
  if (workerClass === undefined && workerOptions === undefined) {
    const options = {
      '--name': input.name,
      '--host': input.host,
      '--worker-port': input.port,
      '--protocol': 'tls',
      '--dashboard-address': `${loopback}:0`,
      '--local-directory': input.directory,
      '--nthreads': input.nthreads,
      '--memory-limit': input.memoryLimit,
      // Dask distributes the threads and generates the names.
      '--nworkers': count === 1 ? undefined : count,
    };
    const found = 'file' in scheduler ? ['--scheduler-file', scheduler.file] : [scheduler.address];
    const words = ['worker', ...found, ...flags(options), nanny ? '--nanny' : '--no-nanny'];
    return { argv: dask(input, words), env, cwd: input.directory, mounts, files: [] };
  }
  if ('file' in scheduler) throw new Error('a worker of a class of its own needs the address of its scheduler');
  refuseReserved('workerOptions', workerOptions, reservedWorkerOptions);
  const cls = workerClass ?? (nanny ? 'distributed.Nanny' : 'distributed.Worker');
  const optsOf = (name: string): object => ({
    ...(input.nthreads === undefined ? {} : { nthreads: input.nthreads }),
    ...(input.memoryLimit === undefined ? {} : { memory_limit: input.memoryLimit }),
    ...workerOptions,
    name,
    host: input.host,
    protocol: 'tls',
    dashboard_address: `${loopback}:0`,
    local_directory: input.directory,
    ...(input.port === 0 ? {} : { [cls.endsWith('Nanny') ? 'worker_port' : 'port']: input.port }),
  });
  const names = workerNames(input.name, count);
  const spec: Spec = Object.fromEntries(names.map((name) => [name, { cls, opts: optsOf(name) }]));
  return {
    ...fromSpec(input, env, count === 1 ? { cls, opts: optsOf(input.name) } : spec, [scheduler.address]),
    mounts,
  };
}

interface OneSpec {
  cls: string;
  opts: object;
}
/** Several workers in one process, by name. */
type Spec = OneSpec | Record<string, OneSpec>;

/** The specification is passed in a file: options may contain values that no other user of the machine should see. */
function fromSpec(input: Place, env: DaskProcess['env'], spec: Spec, args: string[]) {
  const path = join(input.directory, 'dask-spec.json');
  const argv = dask(input, ['spec', '--spec-file', path, ...args]);
  return { argv, env, cwd: input.directory, files: [{ path, content: JSON.stringify(spec) }] };
}

/** Runs by module, because an environment's scripts contain its path and break when it is moved or the path is long. */
function dask({ runtime }: Place, words: string[]): string[] {
  return [runtime.python, '-m', 'dask', ...words];
}

function flags(options: Record<string, string | number | undefined>): string[] {
  return Object.entries(options).flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}

function environment({ instance, base, env, tls, runtime }: Place, roles: string[]): Record<string, string> {
  const set = runtime.variables(base, env);
  set['PYTHONUNBUFFERED'] = '1';
  set['ROPEWALK_INSTANCE'] = instance;
  set['DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION'] = 'True';
  set['DASK_DISTRIBUTED__COMM__TLS__CA_FILE'] = tls.caFile;
  for (const role of roles) {
    set[`DASK_DISTRIBUTED__COMM__TLS__${role}__CERT`] = tls.certFile;
    set[`DASK_DISTRIBUTED__COMM__TLS__${role}__KEY`] = tls.keyFile;
  }
  return set;
}

function refuseReserved(field: string, options: Record<string, unknown> = {}, reserved: readonly string[]): void {
  const used = reservedOption(options, reserved);
  if (used === null) return;
  throw new Error(`${field}.${used} cannot be set: Ropewalk sets it itself. Remove it from ${field}.`);
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

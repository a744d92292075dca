// `ropewalk cluster create`: starts a Dask cluster, which runs until it is idle or stopped, independently of this terminal.

import { Command, InvalidArgumentError, Option } from 'commander';

import type { ClusterWaitOptions, CreateCluster, WorkerAmount } from '../../../sdk/client.ts';
import { collect, parseDollars, parseTimeout, parseWorkerRange, parseWorkers } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { readEnvironment } from '../../environment.ts';
import type { ContainerFlags } from '../../containers.ts';
import { containerOf, withContainer } from '../../containers.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import type { ClusterMachineFlags } from '../../machines.ts';
import { clusterMachinesOf, withClusterMachines } from '../../machines.ts';
import { formatPrice, showPlan } from '../../plan.ts';
import type { SoftwareFlags } from '../../software.ts';
import { softwareNameOf, softwareOf, withSoftware } from '../../software.ts';
import { detachedFromCluster, watchCluster } from '../../watch-cluster.ts';

interface CreateFlags extends ConnectionFlags, FormatFlag, ClusterMachineFlags, SoftwareFlags, ContainerFlags {
  workers?: number | [number, number];
  name?: string;
  new?: boolean;
  env?: string[];
  secretEnv?: string[];
  envFile?: string[];
  secretEnvFile?: string[];
  workerClass?: string;
  workerOptions?: Record<string, unknown>;
  workersPerInstance?: number;
  extraWorkerOnScheduler?: boolean;
  schedulerClass?: string;
  schedulerOptions?: Record<string, unknown>;
  idleTimeout?: string;
  keepalive?: string;
  startTimeout?: string;
  unresponsiveTimeout?: string;
  maxLifetime?: string;
  maxCost?: number;
  drainTimeout?: string;
  lease?: string;
  watchdogTimeout?: string;
  privateToCreator?: boolean;
  jupyter?: boolean;
  usage?: ('groups' | 'exceptions' | 'memory')[];
  plan?: boolean;
  wait?: true | WorkerAmount;
  timeout?: number;
}

export function createCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('create')
    .description('Start a Dask cluster, or return the open cluster of that name.')
    .option(
      '--workers <n>',
      'number of Dask workers, besides the scheduler, or a range for adaptive scaling (default: 4,20)',
      parseWorkerRange,
    )
    .option('--name <name>', 'name of the cluster')
    .option('--new', 'fail when an open cluster has that name')
    .option(
      '-e, --env <KEY=val>',
      'environment variable of scheduler and workers (repeatable); KEY alone takes the value from your environment',
      collect,
    )
    .option('--secret-env <KEY=val>', 'like --env, for secrets: stored encrypted (repeatable)', collect)
    .option('--env-file <path>', 'file of environment variables in .env format (repeatable)', collect)
    .option('--secret-env-file <path>', 'like --env-file, for secrets (repeatable)', collect)
    .option('--worker-class <name>', 'Python class of the workers, e.g. distributed.Worker')
    .option('--worker-options <json>', 'options of the worker class, as a JSON object', parseOptions)
    .option('--workers-per-instance <n>', 'Dask workers that each worker instance runs (default: 1)', parseWorkers)
    .option('--extra-worker-on-scheduler', "run one more worker, on the scheduler's instance")
    .option('--scheduler-class <name>', 'Python class of the scheduler, e.g. distributed.Scheduler')
    .option('--scheduler-options <json>', 'options of the scheduler class, as a JSON object', parseOptions)
    .option('--idle-timeout <duration>', 'end the cluster after this long without computation (default: 20 minutes)')
    .option('--keepalive <duration>', 'end the cluster after this long without a connected client')
    .option(
      '--start-timeout <duration>',
      'end the cluster when no worker has started after this long (default: 10 minutes)',
    )
    .option(
      '--unresponsive-timeout <duration>',
      'end the cluster when its scheduler has not answered for this long (default: 20 minutes)',
    )
    .option('--max-lifetime <duration>', 'end the cluster after this long')
    .option('--max-cost <dollars>', 'end the cluster when it has cost this much, in US dollars', parseDollars)
    .option(
      '--drain-timeout <duration>',
      'time that workers have to finish their tasks before they are removed (default: 2 minutes)',
    )
    .option('--lease <duration>', 'check an instance that has not reported for this long (default: 9 minutes)')
    .option(
      '--watchdog-timeout <duration>',
      'an instance ends itself after this long without an answer from the API (default: 30 minutes)',
    )
    .option('--private-to-creator', 'forbid other users to connect')
    .addOption(
      new Option(
        '--usage <kinds>',
        'what the scheduler counts: groups,exceptions,memory, or none (default: all)',
      ).argParser(parseUsage),
    )
    .option('--jupyter', 'run a Jupyter server beside the scheduler; its environment must have jupyterlab')
    .addOption(new Option('--plan', 'print the planned instances and their price; launch nothing').conflicts('wait'))
    .option('--wait [amount]', 'wait for all workers, a number (3) or a fraction (0.5) of them', parseAmount)
    .option('--timeout <duration>', 'maximum time to wait, e.g. 90s or 5m (default: 10m)', parseTimeout);
  return withFormat(
    withConnection(
      withClusterMachines(
        withSoftware(
          withContainer(command, 'the scheduler and the workers, with Dask in it'),
          'its Python environment',
        ),
      ),
    ),
  ).action(async (flags: CreateFlags) => {
    finish(await create(context, flags));
  });
}

async function create(context: CliContext, flags: CreateFlags): Promise<number> {
  const { output } = context;
  const client = await connect(context, flags);
  const input = await inputOf(context, flags);
  if (flags.plan === true) {
    showPlan(context, flags, await client.clusters.plan(input), 'scheduler');
    return exitCodes.ok;
  }
  let number: number | null = null;
  const describe = (): string =>
    number === null
      ? 'Interrupted. The cluster may have been created: see ropewalk cluster list'
      : detachedFromCluster(number);
  return untilInterrupted(describe, async (signal) => {
    const created = await client.clusters.create(input, { signal });
    number = created.number;
    for (const warning of created.warnings) output.err(`warning: ${warning}`);
    const summary = `Cluster ${created.number} (${created.name}) ${created.existing ? 'exists already' : 'is created'}`;
    const { pricePerHour } = created;
    const next = [
      ...(pricePerHour === undefined ? [] : [`Price:               ${formatPrice(pricePerHour)}`]),
      created.needsApproval === undefined
        ? `Run a script on it:  ropewalk cluster exec ${created.number} -- python my_script.py`
        : `Let it start:        ropewalk approve ${created.number}, by an admin`,
      ...(flags.jupyter === true ? [`Open Jupyter:        ropewalk cluster jupyter ${created.number}`] : []),
      `Stop it:             ropewalk cluster stop ${created.number}`,
    ].join('\n');
    const { wait, timeout } = flags;
    if (wait === undefined) {
      if (flags.format === 'json') output.json(created);
      else output.out(summary);
    } else {
      output.err(summary);
      const until = (options: ClusterWaitOptions) => client.clusters.waitForWorkers(created.number, wait, options);
      await watchCluster(until, context, flags, { signal, timeoutMs: timeout });
    }
    output.err(next);
    return exitCodes.ok;
  });
}

async function inputOf(context: CliContext, flags: CreateFlags): Promise<CreateCluster> {
  const env = await readEnvironment('--env', flags.env ?? [], flags.envFile ?? [], context);
  const secretEnv = await readEnvironment('--secret-env', flags.secretEnv ?? [], flags.secretEnvFile ?? [], context);
  const software = await softwareOf(context, flags);
  const { keepalive: noClientTimeout, workerClass, workerOptions, schedulerClass, schedulerOptions } = flags;
  const { workers, name, idleTimeout, startTimeout, unresponsiveTimeout, maxLifetime, drainTimeout, lease } = flags;
  return {
    ...(workers !== undefined && { workers }),
    ...(name !== undefined && { name }),
    ...(flags.new === true && { getOrCreate: false }),
    ...(software !== undefined && { software }),
    ...softwareNameOf(flags),
    ...(await containerOf(context, flags)),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(secretEnv).length > 0 && { secretEnv }),
    ...(workerClass !== undefined && { workerClass }),
    ...(workerOptions !== undefined && { workerOptions }),
    ...(flags.workersPerInstance !== undefined && { workersPerInstance: flags.workersPerInstance }),
    ...(flags.extraWorkerOnScheduler === true && { extraWorkerOnScheduler: true }),
    ...(schedulerClass !== undefined && { schedulerClass }),
    ...(schedulerOptions !== undefined && { schedulerOptions }),
    ...(idleTimeout !== undefined && { idleTimeout }),
    ...(noClientTimeout !== undefined && { noClientTimeout }),
    ...(startTimeout !== undefined && { startTimeout }),
    ...(unresponsiveTimeout !== undefined && { unresponsiveTimeout }),
    ...(maxLifetime !== undefined && { maxLifetime }),
    ...(flags.maxCost !== undefined && { maxCost: flags.maxCost }),
    ...(drainTimeout !== undefined && { drainTimeout }),
    ...(lease !== undefined && { lease }),
    ...(flags.watchdogTimeout !== undefined && { watchdogTimeout: flags.watchdogTimeout }),
    ...(flags.privateToCreator === true && { privateToCreator: true }),
    ...(flags.jupyter === true && { jupyter: true }),
    ...(flags.usage !== undefined && { usage: flags.usage }),
    ...clusterMachinesOf(flags),
  };
}

function parseOptions(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Give a JSON object, for example {"nthreads": 2}.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError('Give a JSON object, for example {"nthreads": 2}.');
  }
  return Object.fromEntries(Object.entries(value));
}

function parseUsage(text: string): NonNullable<CreateFlags['usage']> {
  const kinds = ['groups', 'exceptions', 'memory'] as const;
  const words = text === 'none' ? [] : text.split(',');
  const chosen = kinds.filter((kind) => words.includes(kind));
  if (chosen.length === words.length) return chosen;
  throw new InvalidArgumentError('Give some of groups, exceptions and memory, separated by commas, or none.');
}

function parseAmount(text: string): WorkerAmount {
  if (text === 'all') return true;
  const amount = /^(\d+|0?\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (amount >= 0) return amount;
  throw new InvalidArgumentError('Give a number of workers (3), a fraction of them (0.5), or "all".');
}

// Machine options of `cluster create` and `batch run`. They are sent to the server as given: it knows the available machines.
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';

import type { CreateCluster, CreateJob } from '../sdk/client.ts';

type Amounts<T> = T | [T, T];

interface PlaceFlags {
  provider?: CreateJob['provider'];
  region?: string;
  zone?: string;
  allowCrossZone?: boolean;
  /** Commander's name for --no-cross-zone: false when it is given. */
  crossZone?: boolean;
  arm?: boolean;
  spotPolicy?: 'on-demand' | 'spot' | 'spot_with_fallback';
  bestZone?: boolean;
  tag?: Record<string, string>;
  waitForCapacity?: string;
  allowSsh?: boolean;
  allowSshFrom?: string;
  allowIngressFrom?: string;
  instanceCredentials?: boolean;
}

export interface ClusterMachineFlags extends PlaceFlags {
  workerVmType?: string[];
  workerCpu?: Amounts<number>;
  workerMemory?: Amounts<string>;
  workerGpu?: true | number;
  schedulerVmType?: string[];
  schedulerCpu?: Amounts<number>;
  schedulerMemory?: Amounts<string>;
  workerGpuType?: string;
  workerDiskSize?: string;
  workerDiskThroughput?: number;
  schedulerDiskSize?: string;
  schedulerGpu?: boolean;
  schedulerPort?: number;
  /** Commander's name for --no-scheduler-public-ip: false when it is given. */
  schedulerPublicIp?: boolean;
}

export interface JobMachineFlags extends PlaceFlags {
  vmType?: string[];
  schedulerVmType?: string[];
  diskSize?: string;
  cpu?: Amounts<number>;
  memory?: Amounts<string>;
  gpu?: boolean;
}

export function withClusterMachines(command: Command): Command {
  command
    .option('--worker-vm-type <types>', 'acceptable instance type of the workers (repeatable, or a,b)', collectTypes)
    .option('--worker-cpu <n>', 'vCPUs of each worker, or a range: 2,8', parseCpu)
    .option(
      '--worker-memory <size>',
      'memory of each worker, within 10 percent, or a range: "8 GiB,32 GiB"',
      parseMemory,
    )
    .option('--worker-gpu [n]', 'GPUs of each worker (1 without a number)', parseGpu)
    .option('--worker-gpu-type <type>', 'workers with a GPU of this type, e.g. T4 or nvidia-tesla-t4')
    .option('--worker-disk-size <size>', 'disk of each worker, e.g. "100 GiB"; a number alone means GiB')
    .option('--worker-disk-throughput <MB/s>', 'throughput of the disks of workers, from 125 to 2000', parseThroughput)
    .option(
      '--scheduler-vm-type <types>',
      'acceptable instance type of the scheduler (repeatable, or a,b)',
      collectTypes,
    )
    .option('--scheduler-cpu <n>', 'vCPUs of the scheduler, or a range', parseCpu)
    .option('--scheduler-memory <size>', 'memory of the scheduler, or a range', parseMemory)
    .option('--scheduler-disk-size <size>', "disk of the scheduler's instance (default: as the workers')")
    .option('--scheduler-gpu', 'a GPU for the scheduler (default: when the workers have one)')
    .option('--no-scheduler-gpu', 'no GPU for the scheduler')
    .option('--scheduler-port <port>', 'port of the Dask scheduler (default on a cloud: 8786)', parsePort)
    .option('--no-scheduler-public-ip', 'clients connect to the private address of the scheduler');
  return withPlace(command);
}

export function withJobMachines(command: Command): Command {
  command
    .option('--vm-type <types>', 'acceptable instance type (repeatable, or a,b)', collectTypes)
    .option(
      '--scheduler-vm-type <types>',
      'acceptable instance type of the head instance (repeatable, or a,b)',
      collectTypes,
    )
    .option('--cpu <n>', 'vCPUs of each instance, or a range: 2,8', parseCpu)
    .option('--memory <size>', 'memory of each instance, within 10 percent, or a range: "8 GiB,32 GiB"', parseMemory)
    .option('--gpu', 'instances with a GPU')
    .option('--disk-size <size>', 'disk of each instance, e.g. "100 GiB"; a number alone means GiB');
  return withPlace(command);
}

export function clusterMachinesOf(flags: ClusterMachineFlags): Partial<CreateCluster> {
  const { workerVmType: workerVmTypes, schedulerVmType: schedulerVmTypes } = flags;
  const { workerCpu, workerMemory, workerGpu, schedulerCpu, schedulerMemory, schedulerPort } = flags;
  const { workerGpuType, workerDiskSize, workerDiskThroughput, schedulerDiskSize, schedulerGpu } = flags;
  return {
    ...(workerVmTypes !== undefined && { workerVmTypes }),
    ...(workerCpu !== undefined && { workerCpu }),
    ...(workerMemory !== undefined && { workerMemory }),
    ...(workerGpu !== undefined && { workerGpu }),
    ...(workerGpuType !== undefined && { workerGpuType }),
    ...(workerDiskSize !== undefined && { workerDiskSize }),
    ...(workerDiskThroughput !== undefined && { workerDiskThroughput }),
    ...(schedulerDiskSize !== undefined && { schedulerDiskSize }),
    ...(schedulerGpu !== undefined && { schedulerGpu }),
    ...(schedulerVmTypes !== undefined && { schedulerVmTypes }),
    ...(schedulerCpu !== undefined && { schedulerCpu }),
    ...(schedulerMemory !== undefined && { schedulerMemory }),
    ...(schedulerPort !== undefined && { schedulerPort }),
    ...(flags.schedulerPublicIp === false && { useSchedulerPublicIp: false }),
    ...placeOf(flags),
  };
}

export function jobMachinesOf(flags: JobMachineFlags): Partial<CreateJob> {
  const { vmType: vmTypes, schedulerVmType: schedulerVmTypes, cpu, memory, gpu, diskSize } = flags;
  return {
    ...(vmTypes !== undefined && { vmTypes }),
    ...(schedulerVmTypes !== undefined && { schedulerVmTypes }),
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
    ...(gpu !== undefined && { gpu }),
    ...(diskSize !== undefined && { diskSize }),
    ...placeOf(flags),
  };
}

function withPlace(command: Command): Command {
  return command
    .option('--provider <name>', 'provider to run on, e.g. aws (default: the preferred one of the control plane)')
    .option('--region <region>', 'region of the cloud, e.g. us-west-2 (default: that of the configuration)')
    .option('--zone <zone>', 'zone of the region, e.g. us-east-1b (default: the one with the best availability)')
    .option('--allow-cross-zone', 'allow instances in different zones')
    .option('--no-cross-zone', 'keep all instances in one zone')
    .option('--arm', 'use ARM processors')
    .addOption(
      new Option('--spot-policy <policy>', 'market of the workers; the head instance is always on-demand').choices([
        'on-demand',
        'spot',
        'spot_with_fallback',
      ]),
    )
    .option('--no-best-zone', 'use the first zone of the configuration rather than the one with the best availability')
    .option('-t, --tag <key=value>', 'tag of the instances in the cloud account (repeatable)', collectTags)
    .option('--wait-for-capacity <duration>', 'retry for this long while the cloud has no capacity, e.g. 6h')
    .option('--allow-ssh', 'open port 22 of the head instance')
    .option(
      '--allow-ssh-from <sources>',
      'open port 22 to addresses, ranges such as 203.0.113.0/24, me, or everyone (a,b)',
    )
    .option('--allow-ingress-from <sources>', 'open the Dask scheduler to addresses, ranges, me, or everyone (a,b)')
    .option('--instance-credentials', 'let tasks use the role or service account of their instance')
    .option('--no-instance-credentials', 'keep tasks from the metadata service of their instance');
}

function placeOf(flags: PlaceFlags) {
  const { provider, region, zone, arm, spotPolicy, tag: tags, waitForCapacity } = flags;
  const { allowSsh, allowSshFrom, allowIngressFrom, instanceCredentials } = flags;
  const allowCrossZone = flags.crossZone === false ? false : flags.allowCrossZone;
  return {
    ...(provider !== undefined && { provider }),
    ...(region !== undefined && { region }),
    ...(zone !== undefined && { zone }),
    ...(allowCrossZone !== undefined && { allowCrossZone }),
    ...(arm !== undefined && { arm }),
    ...(spotPolicy !== undefined && { spotPolicy }),
    ...(tags !== undefined && { tags }),
    ...(flags.bestZone === false && { useBestZone: false }),
    ...(waitForCapacity !== undefined && { waitForCapacity }),
    ...(allowSsh !== undefined && { allowSsh }),
    ...(allowSshFrom !== undefined && { allowSshFrom }),
    ...(allowIngressFrom !== undefined && { allowIngressFrom }),
    ...(instanceCredentials !== undefined && { instanceCredentials }),
  };
}

const collectTypes = (text: string, before: string[] = []): string[] => [...before, ...wordsOf(text)];

function collectTags(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  throw new InvalidArgumentError('Write it as key=value.');
}

const parseThroughput = (text: string): number => {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of MB/s, for example 250.');
};

const parseCpu = (text: string): Amounts<number> => {
  const [first = Number.NaN, second] = oneOrTwo(text).map((word) =>
    /^\d{1,4}$/.test(word) ? Number(word) : Number.NaN,
  );
  if (Number.isNaN(first) || Number.isNaN(second ?? 0)) {
    throw new InvalidArgumentError('Give a whole number, for example 4, or a range: 2,8.');
  }
  return second === undefined ? first : [first, second];
};

const parseMemory = (text: string): Amounts<string> => {
  const [first = '', second] = oneOrTwo(text);
  return second === undefined ? first : [first, second];
};

const parsePort = (text: string): number => {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a port, for example 8786.');
};

const parseGpu = (text: string): number => {
  if (/^\d$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number, for example 1.');
};

function oneOrTwo(text: string): string[] {
  // `2-8` and `8GB-32GB` are Coiled's spelling.
  const range = /^\s*(\d[^,-]*)-\s*(\d[^,-]*)$/.exec(text);
  const words = range === null ? wordsOf(text) : range.slice(1).map((end) => end.trim());
  if (words.length === 1 || words.length === 2) return words;
  throw new InvalidArgumentError('Give one value, or the two ends of a range with a comma between them.');
}

/** Accepts `[2, 8]` and `2,8`. */
const wordsOf = (text: string): string[] =>
  text
    .replace(/^\[(.*)\]$/, '$1')
    .split(',')
    .map((word) => word.trim().replace(/^(["'])(.*)\1$/, '$2'))
    .filter((word) => word !== '');

// Resolves a request for a Dask cluster before anything is written or admitted: its durations, its machines, its warnings. Plans use the same.
import { defaultSchedulerPort } from '../../domain/cluster/capacity/ingress-rules.ts';
import type { Adaptive } from '../../domain/cluster/dask/adaptive-settings.ts';
import type { WorkspaceDefaults } from '../../domain/people/defaults.ts';
import { maxLeaseMs } from '../../domain/job/durations.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { minUnresponsiveMs, sealedForDays } from '../../domain/cluster/limits.ts';
import { minLeaseMs } from '../../domain/job/limits.ts';
import { defaultWatchdogTimeoutMs, maxWatchdogTimeoutMs, minWatchdogTimeoutMs } from '../../domain/liveness/limits.ts';
import type { CreateClusterParsed } from '../../schema/clusters.ts';
import type { Deps } from '../context.ts';
import type { MachinesInput } from '../../schema/machines-spec.ts';
import { resolveMachines, type ResolvedMachines } from '../machines.ts';
import { machinesWithDefaults } from '../people/defaults.ts';
import { readWorkers } from './adaptive.ts';
import { checkDaskInput } from './dask-input.ts';
import { optionalMs, positiveMs } from './durations.ts';

export interface ClusterRequest {
  times: Times;
  machines: ResolvedMachines;
  /** The first workers and the scheduler's instance. */
  instances: number;
  /** The maximum, with adaptive scaling. */
  maxInstances: number;
  adaptive: Adaptive | null;
  warnings: string[];
}

export type Times = ReturnType<typeof readTimes>;

/** @throws RopewalkError VALIDATION naming the field. */
export async function readClusterRequest(
  deps: Pick<Deps, 'providers' | 'ingressPolicy'>,
  body: CreateClusterParsed,
  defaults: WorkspaceDefaults,
): Promise<ClusterRequest> {
  checkDaskInput(body);
  if (body.container !== undefined && body.software !== undefined) throw twoRuntimes();
  const times = readTimes(body);
  const machines = await resolveMachines(deps, machinesWithDefaults(deps.providers, machinesInput(body), defaults));
  const { workers, adaptive } = readWorkers(body.workers, coresOf(machines));
  const instances = workers + 1;
  return {
    times,
    machines,
    instances,
    maxInstances: Math.max(workers, adaptive?.maximum ?? 0) + 1,
    adaptive,
    warnings: [...machines.warnings, ...warningsOf(machines, instances), ...portWarnings(body, machines)],
  };
}

const readTimes = (body: CreateClusterParsed) => ({
  idleTimeoutMs: positiveMs(body.idleTimeout, 'idleTimeout'),
  noClientTimeoutMs: optionalMs(body.noClientTimeout, 'noClientTimeout'),
  startTimeoutMs: positiveMs(body.startTimeout, 'startTimeout'),
  maxLifetimeMs: lifetimeMs(body.maxLifetime),
  unresponsiveTimeoutMs: positiveMs(body.unresponsiveTimeout, 'unresponsiveTimeout', { minMs: minUnresponsiveMs }),
  drainTimeoutMs: positiveMs(body.drainTimeout, 'drainTimeout'),
  watchdogTimeoutMs: positiveMs(body.watchdogTimeout ?? defaultWatchdogTimeoutMs / 1_000, 'watchdogTimeout', {
    minMs: minWatchdogTimeoutMs,
    maxMs: maxWatchdogTimeoutMs,
  }),
  // A lease is three silent periods.
  aliveEveryMs: Math.round(positiveMs(body.lease, 'lease', { minMs: minLeaseMs, maxMs: maxLeaseMs }) / 3),
});

/** The same limit as a job's, because no new instance could start afterwards. */
function lifetimeMs(maxLifetime: CreateClusterParsed['maxLifetime']): number | null {
  const ms = optionalMs(maxLifetime, 'maxLifetime');
  if (ms === null || ms <= sealedForDays * 86_400_000) return ms;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'maxLifetime',
    message: `maxLifetime: must be at most ${sealedForDays} days.`,
    hint: 'What a cluster is started with is kept no longer than that: later it could start no new instance.',
  });
}

const machinesInput = (body: CreateClusterParsed): MachinesInput => ({
  provider: body.provider,
  worker: {
    types: body.workerVmTypes,
    cpu: body.workerCpu,
    memory: body.workerMemory,
    gpu: body.workerGpu,
    gpuType: body.workerGpuType,
    diskSize: body.workerDiskSize,
    diskThroughput: body.workerDiskThroughput,
  },
  workerPrefix: 'worker',
  head: {
    types: body.schedulerVmTypes,
    cpu: body.schedulerCpu,
    memory: body.schedulerMemory,
    gpu: body.schedulerGpu,
    diskSize: body.schedulerDiskSize,
  },
  tags: body.tags,
  useBestZone: body.useBestZone,
  arm: body.arm,
  spotPolicy: body.spotPolicy,
  region: body.region,
  zone: body.zone,
  allowCrossZone: body.allowCrossZone,
  waitForCapacity: body.waitForCapacity,
  allowSsh: body.allowSsh,
  allowSshFrom: body.allowSshFrom,
  allowIngressFrom: body.allowIngressFrom,
  instanceCredentials: body.instanceCredentials,
  openPorts: body.openPorts,
  schedulerPort: body.schedulerPort,
});

/** The account's own security groups open Dask's usual port; an operator does not know any other. */
function portWarnings({ schedulerPort: port }: CreateClusterParsed, { machines }: ResolvedMachines): string[] {
  if (port === undefined || machines === undefined || port === defaultSchedulerPort) return [];
  if ((machines.ingress?.scheduler ?? null) !== null) return [];
  return [
    `schedulerPort: port ${port} is open only as far as the account's own groups open it; allowIngressFrom opens it.`,
  ];
}

/** Cores of the machine that instances share; unlimited on a cloud. */
const coresOf = ({ machines, offers }: ResolvedMachines): number =>
  machines === undefined ? (offers[0]?.vcpus ?? 1) : Number.POSITIVE_INFINITY;

/** Instances of a host share its machine. The warning does not make the cluster smaller. */
function warningsOf(machines: ResolvedMachines, instances: number): string[] {
  const cores = coresOf(machines);
  if (instances <= cores * 2) return [];
  return [
    `all ${instances} instances, the scheduler's and ${instances - 1} of workers, run on this machine and share its ${cores} cores.`,
  ];
}

const twoRuntimes = (): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'container',
    message: 'container and software both say what the Dask processes run in.',
    hint: 'Keep one of the two.',
  });

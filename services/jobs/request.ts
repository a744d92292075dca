// Resolves a request for a job before anything is written or admitted: its fields, the header of its script, and its machines. Plans use the same.
import { readMachineOptions, type JobMachines } from '../../domain/job/machine-options.ts';
import { readRuntimeOptions } from '../../domain/job/runtime-options.ts';
import { resolveJob, type ResolvedJob } from '../../domain/job/settings.ts';
import { defaultMaxWorkers } from '../../domain/job/limits.ts';
import type { WorkspaceDefaults } from '../../domain/people/defaults.ts';
import type { RuntimeSpec } from '../../schema/runtime.ts';
import type { Deps } from '../context.ts';
import type { MachinesInput } from '../../schema/machines-spec.ts';
import { resolveMachines, type ResolvedMachines } from '../machines.ts';
import { machinesWithDefaults } from '../people/defaults.ts';
import { coresOf, providerOf } from '../providers.ts';
import { checkSoftware } from '../software/check.ts';
import type { JobBody } from './body.ts';
import { runtimeOf } from './runtime.ts';
import { checkFiles, checkInputFiles, checkProgramName, checkWords, readHeader } from './script.ts';

export interface JobRequest {
  resolved: ResolvedJob;
  machines: ResolvedMachines;
  /** The requirements from which `machines` were chosen. */
  machinesInput: MachinesInput;
  runtime: RuntimeSpec;
  warnings: string[];
}

/** @throws RopewalkError VALIDATION naming the field, or the header's option with its line. */
export async function readJobRequest(
  deps: Pick<Deps, 'providers' | 'ingressPolicy'>,
  body: JobBody,
  defaults: WorkspaceDefaults,
): Promise<JobRequest> {
  checkFiles(body.files);
  checkInputFiles(body.inputFiles, body.files);
  checkSoftware(body.software);
  const header = readHeader(body);
  const { manifest, reader } = providerOf(deps.providers, body.provider ?? defaults.provider);
  const isHost = manifest.kind === 'host';
  const maxInstances = isHost ? (await coresOf(reader)) * instancesPerCore : defaultMaxWorkers;
  const { runtime, warnings } = runtimeOf(body, readRuntimeOptions(header, body.options ?? {}));
  const resolved = resolveJob(body, header, { maxInstances, choosesMachines: !isHost });
  const said = machinesInput(body, isHost ? {} : readMachineOptions(header, body.options ?? {}));
  const asked = machinesWithDefaults(deps.providers, said, defaults);
  const machines = await resolveMachines(deps, asked);
  checkWords({ command: body.command, env: resolved.env, secretEnv: resolved.secretEnv });
  // An image's entrypoint receives its arguments unchanged.
  if (runtime.kind !== 'container') checkProgramName(body);
  return {
    resolved,
    machines,
    machinesInput: asked,
    runtime,
    warnings: [...resolved.warnings, ...warnings, ...machines.warnings],
  };
}

/** An instance on a host runs one task at a time; more instances would only compete for the machine. */
const instancesPerCore = 2;

/** Request fields override options and the header. */
function machinesInput(body: JobBody, options: JobMachines): MachinesInput {
  const { vmTypes, cpu, memory, gpu, schedulerVmTypes: headTypes = options.schedulerVmTypes } = body;
  const worker = {
    types: vmTypes ?? options.vmTypes,
    cpu: cpu ?? options.cpu,
    memory: memory ?? options.memory,
    gpu: gpu ?? options.gpu,
    diskSize: body.diskSize ?? options.diskSize,
  };
  return {
    provider: body.provider,
    worker,
    workerPrefix: '',
    // A job's head instance runs tasks like the others.
    head: headTypes === undefined ? worker : { types: headTypes, diskSize: worker.diskSize },
    arm: body.arm ?? options.arm,
    spotPolicy: body.spotPolicy ?? options.spotPolicy,
    region: body.region ?? options.region,
    zone: body.zone ?? options.zone,
    allowCrossZone: body.allowCrossZone ?? options.allowCrossZone,
    tags: { ...options.tags, ...body.tags },
    useBestZone: body.useBestZone,
    waitForCapacity: body.waitForCapacity ?? options.waitForCapacity,
    allowSsh: body.allowSsh ?? options.allowSsh,
    allowSshFrom: body.allowSshFrom ?? options.allowSshFrom,
    allowIngressFrom: body.allowIngressFrom ?? options.allowIngressFrom,
    instanceCredentials: body.instanceCredentials ?? options.instanceCredentials,
  };
}

// What a request for a job comes to, before anything is written or admitted: the header of its script and its fields
// together, and its machines. A plan is made of the same.
import { readMachineOptions, type JobMachines } from '../../domain/job/machine-options.ts';
import { resolveJob, type ResolvedJob } from '../../domain/job/settings.ts';
import { defaultMaxWorkers } from '../../domain/limits.ts';
import type { CreateJobParsed } from '../../schema/jobs.ts';
import type { Deps } from '../context.ts';
import { resolveMachines, type MachinesInput, type ResolvedMachines } from '../machines.ts';
import { checkSoftware } from '../software/check.ts';
import { checkFiles, checkWords, readHeader } from './script.ts';

export interface JobRequest {
  resolved: ResolvedJob;
  machines: ResolvedMachines;
  warnings: string[];
}

/** @throws RopewalkError VALIDATION naming the field, or the header's option with its line. */
export async function readJobRequest(deps: Pick<Deps, 'clouds' | 'local'>, body: CreateJobParsed): Promise<JobRequest> {
  checkFiles(body.files);
  checkSoftware(body.software);
  const header = readHeader(body);
  const isLocal = (body.provider ?? deps.clouds.preferred) === 'local';
  const maxInstances = isLocal ? deps.local.cores * instancesPerCore : defaultMaxWorkers;
  const resolved = resolveJob(body, header, { maxInstances, choosesMachines: !isLocal });
  const machines = await resolveMachines(
    deps,
    machinesInput(body, isLocal ? {} : readMachineOptions(header, body.options ?? {})),
  );
  checkWords({ command: body.command, env: resolved.env, secretEnv: resolved.secretEnv });
  return { resolved, machines, warnings: [...resolved.warnings, ...machines.warnings] };
}

/** The local provider runs one task per instance at a time; more than this would only contend for the machine. */
const instancesPerCore = 2;

/** Fields of the request win over options and the header. */
function machinesInput(body: CreateJobParsed, options: JobMachines): MachinesInput {
  const { vmTypes, cpu, memory, gpu, schedulerVmTypes: headTypes = options.schedulerVmTypes } = body;
  const worker = {
    types: vmTypes ?? options.vmTypes,
    cpu: cpu ?? options.cpu,
    memory: memory ?? options.memory,
    gpu: gpu ?? options.gpu,
  };
  return {
    provider: body.provider,
    worker,
    workerPrefix: '',
    // A job's head instance runs tasks like the others.
    head: headTypes === undefined ? worker : { types: headTypes },
    arm: body.arm ?? options.arm,
    spotPolicy: body.spotPolicy ?? options.spotPolicy,
    region: body.region ?? options.region,
    zone: body.zone ?? options.zone,
    allowCrossZone: body.allowCrossZone ?? options.allowCrossZone,
    diskSize: body.diskSize ?? options.diskSize,
    waitForCapacity: body.waitForCapacity ?? options.waitForCapacity,
    allowSsh: body.allowSsh ?? options.allowSsh,
    allowSshFrom: body.allowSshFrom ?? options.allowSshFrom,
    allowIngressFrom: body.allowIngressFrom ?? options.allowIngressFrom,
  };
}

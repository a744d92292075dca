// Requested cloud machines. domain/offers/requirements.ts and domain/cluster/capacity/ingress-rules.ts have the same shapes without the parsing.
import { z } from 'zod';

import { durationInput } from './common.ts';
import { typeName } from './machines-spec.ts';

const cpu = z.union([z.number().int().min(1), z.tuple([z.number().int().min(1), z.number().int().min(1)])]);
const memory = z.union([z.string().max(50), z.tuple([z.string().max(50), z.string().max(50)])]);
const types = z.array(typeName).min(1).max(50);
const gpu = z.union([z.boolean(), z.number().int().min(0)]);

/** The API determines which names are enabled. */
export const providerName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'is not the name of a provider, e.g. aws');

/** AWS's format, with a dash before the number, or Google Cloud's, without. */
export const regionInput = z
  .string()
  .max(50)
  .regex(/^[a-z]+(-[a-z]+)+-?\d{1,2}$/, 'is not the name of a region, e.g. us-west-2 or us-central1');

/** Addresses and ranges, separated by commas; parsed by domain/cluster/capacity/ingress-rules.ts. */
const source = z.string().min(1).max(1_000);

/** Place and machines. Where the provider is one machine, only `provider` has an effect. */
const placeInput = {
  /** The preferred provider of this control plane by default. */
  provider: providerName.optional(),
  arm: z.boolean().optional(),
  /** E.g. `us-west-2`; the configuration's default region by default. */
  region: regionInput.optional(),
  /** For workers; the head instance is always on-demand. */
  spotPolicy: z.enum(['on-demand', 'spot', 'spot_with_fallback']).optional(),
  /** E.g. `us-east-1b`; by default the zone with the best availability. */
  zone: z.string().max(50).optional(),
  allowCrossZone: z.boolean().optional(),
  /** False: the configuration's first zone, instead of the one with the best availability for these instances. */
  useBestZone: z.boolean().default(true),
  /** Tags of the instances and their disks in the cloud account, e.g. for its bill. */
  tags: z.record(z.string(), z.string()).default({}),
  /** E.g. `6h`: how long launches of unavailable instances are retried; by default the start timeout. */
  waitForCapacity: durationInput.optional(),
  /** Opens port 22 of the head instance, to everyone unless `allowSshFrom` is given. */
  allowSsh: z.boolean().optional(),
  /** Sources that may reach port 22 of the head instance: addresses, ranges such as `203.0.113.0/24`, or `everyone`, separated by commas. */
  allowSshFrom: source.optional(),
  /** The same for the port of the Dask scheduler; by default the configuration's security groups decide. */
  allowIngressFrom: source.optional(),
  /** Tasks and Dask processes can use the role or service account of their instance; by default they cannot reach the metadata service. */
  instanceCredentials: z.boolean().optional(),
};

/** Fields for which a workspace can have defaults. */
export const workspaceDefaultsInput = {
  provider: placeInput.provider,
  region: placeInput.region,
  zone: placeInput.zone,
  spotPolicy: placeInput.spotPolicy,
  allowCrossZone: placeInput.allowCrossZone,
  allowSsh: placeInput.allowSsh,
  allowSshFrom: placeInput.allowSshFrom,
  allowIngressFrom: placeInput.allowIngressFrom,
  instanceCredentials: placeInput.instanceCredentials,
};

/** E.g. `100 GiB`, or a number of GiB; default 30 GiB. */
const diskSize = z.union([z.string().max(50), z.number().positive()]);

export const clusterMachinesInput = {
  ...placeInput,
  workerDiskSize: diskSize.optional(),
  /** By default the same as the workers'. */
  schedulerDiskSize: diskSize.optional(),
  /** MB/s of the workers' disks. */
  workerDiskThroughput: z.number().int().optional(),
  /** E.g. `nvidia-tesla-t4` or `A10G`: workers with one GPU of this type. */
  workerGpuType: z.string().min(1).max(50).optional(),
  /** A GPU for the scheduler too; by default when the workers have one. */
  schedulerGpu: z.boolean().optional(),
  workerVmTypes: types.optional(),
  /** A number of vCPUs or a range, e.g. `[2, 8]`. */
  workerCpu: cpu.optional(),
  /** E.g. `16 GiB` or a range; a deviation of a tenth is accepted. */
  workerMemory: memory.optional(),
  workerGpu: gpu.optional(),
  schedulerVmTypes: types.optional(),
  schedulerCpu: cpu.optional(),
  schedulerMemory: memory.optional(),
  /** Port of the Dask scheduler: by default 8786 on a cloud, and any free port where instances share a machine. */
  schedulerPort: z.number().int().min(1_024).max(65_535).optional(),
  /** Further ports of the scheduler's instance, with their sources: `{"9000": "203.0.113.0/24"}`. */
  openPorts: z.record(z.string().max(10), source).optional(),
  /** Clients connect to the scheduler's public address if its instance has one, instead of its private one. */
  useSchedulerPublicIp: z.boolean().default(true),
};

export const jobMachinesInput = {
  ...placeInput,
  diskSize: diskSize.optional(),
  vmTypes: types.optional(),
  /** Only for the head instance, which runs tasks like the others. */
  schedulerVmTypes: types.optional(),
  cpu: cpu.optional(),
  memory: memory.optional(),
  gpu: gpu.optional(),
};

// Machines of a cloud as callers ask for them. The same shapes, less the parsing, are domain/offers/requirements.ts and
// domain/cluster/capacity/ingress-rules.ts.
import { z } from 'zod';

import { durationInput } from './common.ts';
import { typeName } from './machines-spec.ts';

const cpu = z.union([z.number().int().min(1), z.tuple([z.number().int().min(1), z.number().int().min(1)])]);
const memory = z.union([z.string().max(50), z.tuple([z.string().max(50), z.string().max(50)])]);
const types = z.array(typeName).min(1).max(50);
const gpu = z.union([z.boolean(), z.number().int().min(0)]);

/** Which names are enabled, the API says. */
export const providerName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'is not the name of a provider, e.g. aws');

/** As AWS names regions, with a dash before the number, or Google Cloud, without. */
export const regionInput = z
  .string()
  .max(50)
  .regex(/^[a-z]+(-[a-z]+)+-?\d{1,2}$/, 'is not the name of a region, e.g. us-west-2 or us-central1');

/** Addresses and ranges, separated by commas; parsed by domain/cluster/capacity/ingress-rules.ts. */
const source = z.string().min(1).max(1_000);

/** Where and on what it runs; where the provider is one machine, all but `provider` is without effect. */
const placeInput = {
  /** The provider that this control plane prefers unless given. */
  provider: providerName.optional(),
  arm: z.boolean().optional(),
  /** E.g. `us-west-2`; the default region of the configuration unless given. */
  region: regionInput.optional(),
  /** For workers; what a cluster hangs from is always on demand. */
  spotPolicy: z.enum(['on-demand', 'spot', 'spot_with_fallback']).optional(),
  /** E.g. `us-east-1b`; the zone with the best availability unless given. */
  zone: z.string().max(50).optional(),
  allowCrossZone: z.boolean().optional(),
  /** False: the configuration's first zone, rather than the one with the best availability for these instances. */
  useBestZone: z.boolean().default(true),
  /** Tags of the instances and their disks in the cloud account, e.g. for its bill. */
  tags: z.record(z.string(), z.string()).default({}),
  /** E.g. `6h`: launches of unavailable instances are retried for this long; by default for the start timeout. */
  waitForCapacity: durationInput.optional(),
  /** Opens port 22 of the head instance, to everyone unless `allowSshFrom` says otherwise. */
  allowSsh: z.boolean().optional(),
  /** Addresses, ranges such as `203.0.113.0/24`, or `everyone`, separated by commas: who may reach port 22 of the head instance. */
  allowSshFrom: source.optional(),
  /** The same for the port of the Dask scheduler; as the configuration's security groups say unless given. */
  allowIngressFrom: source.optional(),
  /** Tasks and Dask's processes can use the role or service account of their instance; they reach no metadata service unless given. */
  instanceCredentials: z.boolean().optional(),
};

/** What a workspace can have a default for. */
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

/** E.g. `100 GiB`, or GiB; 30 GiB unless given. */
const diskSize = z.union([z.string().max(50), z.number().positive()]);

export const clusterMachinesInput = {
  ...placeInput,
  workerDiskSize: diskSize.optional(),
  /** As the workers' unless given. */
  schedulerDiskSize: diskSize.optional(),
  /** MB/s of the workers' disks. */
  workerDiskThroughput: z.number().int().optional(),
  /** E.g. `nvidia-tesla-t4` or `A10G`: workers with one GPU of this type. */
  workerGpuType: z.string().min(1).max(50).optional(),
  /** A GPU for the scheduler too; unless given, when the workers have one. */
  schedulerGpu: z.boolean().optional(),
  workerVmTypes: types.optional(),
  /** A number of vCPUs or a range, e.g. `[2, 8]`. */
  workerCpu: cpu.optional(),
  /** E.g. `16 GiB` or a range; a tenth more or less will do. */
  workerMemory: memory.optional(),
  workerGpu: gpu.optional(),
  schedulerVmTypes: types.optional(),
  schedulerCpu: cpu.optional(),
  schedulerMemory: memory.optional(),
  /** Port of the Dask scheduler: 8786 on a cloud unless given, any free port where instances share a machine. */
  schedulerPort: z.number().int().min(1_024).max(65_535).optional(),
  /** Further ports of the scheduler's instance, and who may reach each: `{"9000": "203.0.113.0/24"}`. */
  openPorts: z.record(z.string().max(10), source).optional(),
  /** Clients connect to the scheduler's public address, when its instance has one, rather than its private one. */
  useSchedulerPublicIp: z.boolean().default(true),
};

export const jobMachinesInput = {
  ...placeInput,
  diskSize: diskSize.optional(),
  vmTypes: types.optional(),
  /** For the head instance alone, which runs tasks like the others. */
  schedulerVmTypes: types.optional(),
  cpu: cpu.optional(),
  memory: memory.optional(),
  gpu: gpu.optional(),
};

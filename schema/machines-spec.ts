// The resolved cloud machines in specifications; the shape of domain/cluster/capacity/machines.ts.
import { z } from 'zod';

import type { IngressInput } from '../domain/cluster/capacity/ingress-rules.ts';
import type { RequirementsInput } from '../domain/offers/requirements.ts';

/** `m6i.large`, `n2-standard-4`, or with attached GPUs `n1-standard-4+nvidia-tesla-t4` or `n1-standard-8+2xnvidia-tesla-t4`. */
export const typeName = z
  .string()
  .max(100)
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)?(\+[a-z0-9-]+)?$/, 'is not the name of an instance type');

const spotPolicy = z.enum(['on-demand', 'spot', 'spot_with_fallback']);

export const machines = z.object({
  workerTypes: z.array(typeName).min(1),
  headTypes: z.array(typeName).min(1),
  architecture: z.enum(['x86_64', 'arm64']),
  spotPolicy,
  region: z.string(),
  zones: z.array(z.string()).min(1),
  allowCrossZone: z.boolean(),
  diskGib: z.number().int().min(1),
  headDiskGib: z.number().int().min(1).optional(),
  workerDiskThroughput: z.number().int().min(1).optional(),
  tags: z.record(z.string(), z.string()).optional(),
  ingress: z
    .object({
      scheduler: z.object({ port: z.number().int(), from: z.array(z.string()) }).nullable(),
      ssh: z.array(z.string()).nullable(),
      others: z.array(z.object({ port: z.number().int(), from: z.array(z.string()) })).optional(),
    })
    .optional(),
  waitForCapacityMs: z.number().int().min(1).optional(),
  instanceCredentials: z.literal(true).optional(),
});

const amount = z.union([z.string(), z.number()]);
const names = z.array(z.string());

const requirements = {
  types: names.optional(),
  cpu: z.union([z.number(), z.tuple([z.number(), z.number()])]).optional(),
  memory: z.union([z.string(), z.tuple([z.string(), z.string()])]).optional(),
  gpu: z.union([z.number(), z.boolean()]).optional(),
  gpuType: z.string().optional(),
  arm: z.boolean().optional(),
} satisfies Record<keyof RequirementsInput, z.ZodType>;

const roleInput = z.object({
  ...requirements,
  diskSize: amount.optional(),
  /** MB/s. */
  diskThroughput: z.number().optional(),
});
export type RoleInput = z.infer<typeof roleInput>;

const ingress = {
  allowSsh: z.boolean().optional(),
  allowSshFrom: z.string().optional(),
  allowIngressFrom: z.string().optional(),
  openPorts: z.record(z.string(), z.string()).optional(),
  schedulerPort: z.number().optional(),
} satisfies Record<keyof IngressInput, z.ZodType>;

/** The requested machines, kept in a job's specification for a retry. */
export const machinesInput = z.object({
  ...ingress,
  provider: z.string().optional(),
  worker: roleInput,
  /** The prefix of the `worker` fields in the request, e.g. `worker` for `workerCpu`; empty for no prefix. */
  workerPrefix: z.string(),
  head: roleInput,
  arm: z.boolean().optional(),
  spotPolicy: spotPolicy.optional(),
  region: z.string().optional(),
  zone: z.string().optional(),
  allowCrossZone: z.boolean().optional(),
  useBestZone: z.boolean().optional(),
  tags: z.record(z.string(), z.string()).optional(),
  /** E.g. `6h`. */
  waitForCapacity: amount.optional(),
  instanceCredentials: z.boolean().optional(),
});
export type MachinesInput = z.infer<typeof machinesInput>;

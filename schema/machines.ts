// Machines of a cloud: as callers ask for them, and as specifications carry what was resolved. The same shapes, less the
// parsing, are domain/offers/wish.ts and domain/cluster/machines.ts.
import { z } from 'zod';

const typeName = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)?$/, 'is not the name of an instance type');

export const machines = z.object({
  workerTypes: z.array(typeName).min(1),
  headTypes: z.array(typeName).min(1),
  architecture: z.enum(['x86_64', 'arm64']),
  spotPolicy: z.enum(['on-demand', 'spot', 'spot_with_fallback']),
  zones: z.array(z.string()).min(1),
  allowCrossZone: z.boolean(),
  diskGib: z.number().int().min(1),
});

const cpu = z.union([z.number().int().min(1), z.tuple([z.number().int().min(1), z.number().int().min(1)])]);
const memory = z.union([z.string().max(50), z.tuple([z.string().max(50), z.string().max(50)])]);
const types = z.array(typeName).min(1).max(50);
const gpu = z.union([z.boolean(), z.number().int().min(0)]);

/** Where and on what it runs; on the local provider all but `provider` is without effect. */
const placeInput = {
  /** The provider that this control plane prefers unless given. */
  provider: z.enum(['local', 'aws']).optional(),
  arm: z.boolean().optional(),
  /** For workers; what a cluster hangs from is always on demand. */
  spotPolicy: z.enum(['on-demand', 'spot', 'spot_with_fallback']).optional(),
  /** E.g. `us-east-1b`; the zone with the best availability unless given. */
  zone: z.string().max(50).optional(),
  allowCrossZone: z.boolean().optional(),
  /** E.g. `100 GiB`; 30 GiB unless given. */
  diskSize: z.string().max(50).optional(),
};

export const clusterMachinesInput = {
  ...placeInput,
  workerVmTypes: types.optional(),
  /** A number of vCPUs or a range, e.g. `[2, 8]`. */
  workerCpu: cpu.optional(),
  /** E.g. `16 GiB` or a range; a tenth more or less will do. */
  workerMemory: memory.optional(),
  workerGpu: gpu.optional(),
  schedulerVmTypes: types.optional(),
  schedulerCpu: cpu.optional(),
  schedulerMemory: memory.optional(),
};

export const jobMachinesInput = {
  ...placeInput,
  vmTypes: types.optional(),
  cpu: cpu.optional(),
  memory: memory.optional(),
  gpu: gpu.optional(),
};

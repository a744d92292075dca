// Machines of a cloud as specifications carry what was resolved: the shape of domain/cluster/capacity/machines.ts.
import { z } from 'zod';

export const typeName = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)?$/, 'is not the name of an instance type');

export const machines = z.object({
  workerTypes: z.array(typeName).min(1),
  headTypes: z.array(typeName).min(1),
  architecture: z.enum(['x86_64', 'arm64']),
  spotPolicy: z.enum(['on-demand', 'spot', 'spot_with_fallback']),
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
    })
    .optional(),
  waitForCapacityMs: z.number().int().min(1).optional(),
});

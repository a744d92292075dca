// Available instance types over HTTP: GET /v1/instance-types.
import { z } from 'zod';

import { providerName, regionInput } from './machines.ts';

const number = z.string().regex(/^\d{1,6}$/, 'a whole number');

export const instanceTypesQuery = z.object({
  provider: providerName.optional(),
  /** Minimum and maximum number of vCPUs. */
  minCpu: number.optional(),
  maxCpu: number.optional(),
  /** Minimum and maximum, e.g. `16 GiB`. */
  minMemory: z.string().max(50).optional(),
  maxMemory: z.string().max(50).optional(),
  gpu: z.enum(['true', 'false']).optional(),
  arm: z.enum(['true', 'false']).optional(),
  /** The default region when absent. */
  region: regionInput.optional(),
  zone: z.string().max(50).optional(),
  /** The prefix of the name, e.g. `m6i.`. */
  prefix: z.string().max(50).optional(),
});
export type InstanceTypesQuery = z.infer<typeof instanceTypesQuery>;

export const instanceType = z.object({
  type: z.string(),
  provider: z.string(),
  vcpus: z.number().int(),
  memoryBytes: z.number(),
  architecture: z.enum(['x86_64', 'arm64']),
  gpus: z.number().int(),
  gpuName: z.string().nullable(),
  /** US dollars an hour on-demand, in the cheapest zone; approximate; null when unknown. */
  pricePerHour: z.number().nullable(),
  /** The same on the spot market; null when unknown. */
  spotPricePerHour: z.number().nullable(),
  zones: z.array(z.string()),
});
export type InstanceType = z.infer<typeof instanceType>;

export const instanceTypeList = z.object({ items: z.array(instanceType) });
export type InstanceTypeList = z.infer<typeof instanceTypeList>;

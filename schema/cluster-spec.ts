// A Dask cluster's specification in the object store: written by the API before admission, read by the cluster's first activity. It contains no
// secret: environment variables and options are sealed in the bundle, the CA is in the vault.
import { z } from 'zod';

import { machines } from './machines-spec.ts';

const count = z.number().int().min(0);

export const clusterSpec = z.object({
  v: z.literal(1),
  workspace: z.string(),
  admissionId: z.string(),
  user: z.string(),
  bundleRef: z.string(),
  caRef: z.string(),
  createdAt: z.iso.datetime(),
  settings: z.object({
    /** The cluster fills in the admitted name. */
    name: z.string(),
    job: z.null(),
    /** The head instance and the workers. */
    instances: count,
    provider: z.string(),
    providerQueue: z.string(),
    instanceVcpus: count,
    registerTimeoutMs: count,
    watchdogTimeoutMs: count,
    machines: machines.optional(),
    maxCostMicros: count.optional(),
    dask: z.object({
      idleTimeoutMs: count,
      noClientTimeoutMs: count.nullable(),
      startTimeoutMs: count,
      maxLifetimeMs: count.nullable(),
      drainTimeoutMs: count,
      aliveEveryMs: count,
      unresponsiveTimeoutMs: count,
      privateToCreator: z.boolean(),
      adaptive: z
        .object({
          minimum: count,
          maximum: count,
          targetDurationMs: count,
          waitCount: count,
          intervalMs: count,
        })
        .nullable(),
      useSchedulerPublicIp: z.boolean(),
    }),
  }),
});
export type ClusterSpec = z.infer<typeof clusterSpec>;

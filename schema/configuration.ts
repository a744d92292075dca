// GET /v1/clusters/{number}/configuration and GET /v1/jobs/{number}/configuration: what was asked for, without secrets.
import { z } from 'zod';

import { machines } from './machines-spec.ts';
import { packageFile } from './software.ts';

const count = z.number().int().min(0);
const seconds = z.number().min(0).nullable();
const { workerTypes, headTypes, architecture, spotPolicy, region, zones, allowCrossZone, diskGib } = machines.shape;

export const configuration = z.object({
  number: count,
  provider: z.string(),
  /** That it was created with, the head instance among them. */
  instances: count,
  /** Types in the order in which they are tried. Null where instances are processes of one machine. */
  machines: z
    .object({
      ...{ workerTypes, headTypes, architecture, spotPolicy, region, zones, allowCrossZone, diskGib },
      tags: z.record(z.string(), z.string()),
      waitForCapacitySeconds: seconds,
    })
    .nullable(),
  /** Null: without a limit, or not of this kind. */
  limits: z.object({
    maxCostDollars: z.number().nullable(),
    idleTimeoutSeconds: seconds,
    noClientTimeoutSeconds: seconds,
    maxLifetimeSeconds: seconds,
    jobTimeoutSeconds: seconds,
    taskTimeoutSeconds: seconds,
    /** Of a failed task. */
    retries: count.nullable(),
  }),
  /** Null when it has ended: what its instances were given is deleted then. */
  software: z
    .object({
      /** `host`: the programs of the instance itself. */
      kind: z.enum(['host', 'environment', 'container']),
      image: z.string().nullable(),
      python: z.string().nullable(),
      /** Passwords in URLs are left out. */
      requirements: z.array(z.string()),
      packageFiles: z.array(packageFile),
      /** Names alone. */
      environmentVariables: z.array(z.string()),
      hasHostSetupScript: z.boolean(),
      jupyter: z.boolean(),
    })
    .nullable(),
});
export type Configuration = z.infer<typeof configuration>;

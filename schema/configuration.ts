// GET /v1/clusters/{number}/configuration and GET /v1/jobs/{number}/configuration: the requested settings, without secrets.
import { z } from 'zod';

import { machines } from './machines-spec.ts';
import { packageFile } from './software.ts';

const count = z.number().int().min(0);
const seconds = z.number().min(0).nullable();
const { workerTypes, headTypes, architecture, spotPolicy, region, zones, allowCrossZone, diskGib } = machines.shape;

export const configuration = z.object({
  number: count,
  provider: z.string(),
  /** The number at creation, including the head instance. */
  instances: count,
  /** Types in the order of attempts. Null where instances are processes of one machine. */
  machines: z
    .object({
      ...{ workerTypes, headTypes, architecture, spotPolicy, region, zones, allowCrossZone, diskGib },
      tags: z.record(z.string(), z.string()),
      waitForCapacitySeconds: seconds,
    })
    .nullable(),
  /** Null for no limit, or for a limit of another kind of object. */
  limits: z.object({
    maxCostDollars: z.number().nullable(),
    idleTimeoutSeconds: seconds,
    noClientTimeoutSeconds: seconds,
    maxLifetimeSeconds: seconds,
    jobTimeoutSeconds: seconds,
    taskTimeoutSeconds: seconds,
    /** Retries of a failed task. */
    retries: count.nullable(),
  }),
  /** Null once it has ended, because its bundle is then deleted. */
  software: z
    .object({
      /** `host`: the programs of the instance itself. */
      kind: z.enum(['host', 'environment', 'container']),
      image: z.string().nullable(),
      python: z.string().nullable(),
      /** Without the passwords in URLs. */
      requirements: z.array(z.string()),
      packageFiles: z.array(packageFile),
      /** Only the names. */
      environmentVariables: z.array(z.string()),
      hasHostSetupScript: z.boolean(),
      jupyter: z.boolean(),
    })
    .nullable(),
});
export type Configuration = z.infer<typeof configuration>;

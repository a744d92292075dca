// The planned machines and cost of a cluster or job: POST /v1/plans/clusters and /v1/plans/jobs.
import { z } from 'zod';

import { instanceType } from './instance-types.ts';

const market = z.enum(['on-demand', 'spot']);

/** US dollars an hour, for instances with their public addresses; null when the price of one type is unknown. */
export const planPrice = z.object({
  /** Price of the first choice. */
  firstChoice: z.number().nullable(),
  /** Price of the most expensive alternative. */
  max: z.number().nullable(),
});
export type PlanPrice = z.infer<typeof planPrice>;

export const plannedRole = z.object({
  count: z.number().int(),
  /** In the order of attempts. */
  markets: z.array(market),
  /** In the order of attempts. */
  types: z.array(instanceType.omit({ provider: true })),
  /** For all `count` instances together. */
  pricePerHour: planPrice,
});
export type PlannedRole = z.infer<typeof plannedRole>;

export const plan = z.object({
  provider: z.string(),
  /** Null where there is at most one region. */
  region: z.string().nullable(),
  /** Zones in which it may run: all instances in one of them, unless `allowCrossZone`. */
  zones: z.array(z.string()),
  allowCrossZone: z.boolean(),
  /** Disk size of each instance; null where there is no choice. */
  diskGib: z.number().int().nullable(),
  /** The scheduler's instance, or the first instance of a job. */
  head: plannedRole,
  workers: plannedRole,
  /** For all instances together, without disks and traffic. */
  pricePerHour: planPrice,
  /** Sources and dates of the prices. */
  prices: z.array(z.object({ market, source: z.string(), asOf: z.string() })),
  warnings: z.array(z.string()),
});
export type Plan = z.infer<typeof plan>;

// What a cluster or job would be launched as, and what it would cost: POST /v1/plans/clusters and /v1/plans/jobs.
import { z } from 'zod';

import { instanceType } from './instance-types.ts';

const market = z.enum(['on-demand', 'spot']);

/** US dollars an hour, for instances with their public addresses; null when the price of one of the types is unknown. */
export const planPrice = z.object({
  /** When what is asked for first is had. */
  firstChoice: z.number().nullable(),
  /** Of the most expensive alternative. */
  max: z.number().nullable(),
});
export type PlanPrice = z.infer<typeof planPrice>;

export const plannedRole = z.object({
  count: z.number().int(),
  /** In the order in which they are tried. */
  markets: z.array(market),
  /** In the order in which they are tried. */
  types: z.array(instanceType.omit({ provider: true })),
  /** Of all `count` together. */
  pricePerHour: planPrice,
});
export type PlannedRole = z.infer<typeof plannedRole>;

export const plan = z.object({
  provider: z.string(),
  /** Null where there is only one, or none. */
  region: z.string().nullable(),
  /** Where it may run: all of it in one of these zones, unless `allowCrossZone`. */
  zones: z.array(z.string()),
  allowCrossZone: z.boolean(),
  /** Of each instance; null where there is no choice. */
  diskGib: z.number().int().nullable(),
  /** What everything hangs from: the scheduler's instance, or the first of a job's. */
  head: plannedRole,
  workers: plannedRole,
  /** Of all instances together. Disks and traffic come on top. */
  pricePerHour: planPrice,
  /** Where the prices are from, and of when. */
  prices: z.array(z.object({ market, source: z.string(), asOf: z.string() })),
  warnings: z.array(z.string()),
});
export type Plan = z.infer<typeof plan>;

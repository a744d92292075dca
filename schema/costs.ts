// Costs over HTTP: GET /v1/costs.
import { z } from 'zod';

import { costGroupings } from '../domain/cost/summary.ts';

export const costGrouping = z.enum(costGroupings);

export const costsQuery = z.object({
  by: costGrouping.default('user'),
  /** An RFC 3339 time, or an age, e.g. `7 days`; default 30 days. */
  since: z.string().max(50).optional(),
  /** Only this user's costs. */
  user: z.string().max(100).optional(),
});
export type CostsQuery = z.output<typeof costsQuery>;

const amounts = {
  /** US dollars: the price at each instance's launch, by the second, at least a minute. */
  dollars: z.number(),
  instanceHours: z.number(),
  instances: z.number().int(),
  /** For the existing instances. */
  dollarsPerHour: z.number(),
};

export const costLine = z.object({
  /**
   * A user, a tag as `key=value`, the number of a job or cluster, a day in UTC, or an instance type with its market. Empty: clusters without a job.
   */
  key: z.string(),
  /** Name of the job or cluster. */
  name: z.string().nullable(),
  ...amounts,
});
export type CostLine = z.infer<typeof costLine>;

export const costs = z.object({
  by: costGrouping,
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  items: z.array(costLine),
  total: z.object(amounts),
  /** Sources of the prices; the source of a host states that it costs nothing. */
  priceSources: z.array(z.string()),
});
export type Costs = z.infer<typeof costs>;

/** Cost of one job or cluster since its start; null before its first instance. */
export const ownCost = z.object({ dollars: z.number(), dollarsPerHour: z.number() }).nullable();
export type OwnCost = z.infer<typeof ownCost>;

/** The cost of a job or cluster at equal time intervals from its first instance on. */
export const costOverTime = z.object({ points: z.array(z.object({ at: z.iso.datetime(), dollars: z.number() })) });
export type CostOverTime = z.infer<typeof costOverTime>;

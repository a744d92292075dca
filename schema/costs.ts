// What was spent, over HTTP: GET /v1/costs.
import { z } from 'zod';

import { costGroupings } from '../domain/cost/summary.ts';

export const costGrouping = z.enum(costGroupings);

export const costsQuery = z.object({
  by: costGrouping.default('user'),
  /** An RFC 3339 time, or how long ago, e.g. `7 days`; 30 days unless given. */
  since: z.string().max(50).optional(),
  /** Only this user's. */
  user: z.string().max(100).optional(),
});
export type CostsQuery = z.output<typeof costsQuery>;

const amounts = {
  /** US dollars: the price at each instance's launch, by the second, a minute at least. */
  dollars: z.number(),
  instanceHours: z.number(),
  instances: z.number().int(),
  /** Of those that exist now. */
  dollarsPerHour: z.number(),
};

export const costLine = z.object({
  /** A user, a tag as `key=value`, the number of a job or cluster, a day in UTC, or an instance type with its market. Empty: jobless clusters. */
  key: z.string(),
  /** Of a job or cluster. */
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
  /** Where the prices come from; that of this machine says that it costs nothing. */
  priceSources: z.array(z.string()),
});
export type Costs = z.infer<typeof costs>;

/** Of one job or cluster, since its start; null until it has had an instance. */
export const ownCost = z.object({ dollars: z.number(), dollarsPerHour: z.number() }).nullable();
export type OwnCost = z.infer<typeof ownCost>;

/** What a job or cluster had cost, at equal distances of time from its first instance on. */
export const costOverTime = z.object({ points: z.array(z.object({ at: z.iso.datetime(), dollars: z.number() })) });
export type CostOverTime = z.infer<typeof costOverTime>;

// Events of clusters and jobs: GET /v1/clusters/{number}/events and GET /v1/jobs/{number}/events.
import { z } from 'zod';

import { digits, wholeNumber } from './common.ts';

/** An event of a cluster: one line of `application/x-ndjson`. */
export const clusterEvent = z.object({
  /** Its number: later events have greater ones, not always the next. */
  seq: z.number().int(),
  at: z.iso.datetime(),
  code: z.string(),
  text: z.string(),
  /** The user who requested it, if any. */
  by: z.string().nullable(),
});

export type ClusterEvent = z.infer<typeof clusterEvent>;

/** An event of a job. Jobs store no events: they are read from its state, and have no numbers. */
export const jobEvent = clusterEvent.omit({ seq: true }).extend({ by: z.string().nullable().optional() });
export type JobEvent = z.infer<typeof jobEvent>;

export const jobEventsQuery = z.object({
  follow: z.enum(['true', 'false']).default('false'),
  since: z.iso.datetime().optional(),
});

/** A page: at most `limit` events with greater numbers than `after`. The next page is after the last event's `seq`. */
export const clusterEventsQuery = jobEventsQuery.extend({
  after: digits(wholeNumber.min(0)).optional(),
  limit: digits(wholeNumber.min(1)).optional(),
});

// GET /v1/clusters/{number}/why and GET /v1/jobs/{number}/why.
import { z } from 'zod';

export const whySentence = z.object({
  /** `state`: why it runs or waits. `size`: why it is not bigger. `instanceType`: why these types. `end`: why it stopped. */
  about: z.enum(['state', 'size', 'instanceType', 'end']),
  text: z.string(),
  /** The sentence's facts: numbers and texts of the view, and events as `event CODE`, with their time. */
  facts: z.array(
    z.object({
      name: z.string(),
      value: z.union([z.string(), z.number()]),
      at: z.iso.datetime().nullable(),
      /** Numbers (`seq`) of the events of the cluster, or of the job's cluster, that record it, the newest 20. Empty where no event does. */
      events: z.array(z.number().int()),
    }),
  ),
});
export type WhySentence = z.infer<typeof whySentence>;

export const why = z.object({
  number: z.number().int(),
  status: z.string(),
  sentences: z.array(whySentence),
  /** Set for an outdated answer, because Temporal is unavailable. */
  staleSince: z.iso.datetime().nullable(),
});
export type Why = z.infer<typeof why>;

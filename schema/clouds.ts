// The clouds of a control plane and their health, over HTTP.
import { z } from 'zod';

export const checkCloud = z.strictObject({
  /** The name of a provider, as the list of clouds has it. */
  cloud: z.string().max(50),
});

export const cloudFinding = z.object({
  /** What was checked. */
  name: z.string(),
  state: z.enum(['ok', 'broken', 'unchecked']),
  text: z.string(),
  /** What to do; empty when all is well. */
  fix: z.string(),
  at: z.iso.datetime().nullable(),
});

export const cloud = z.object({
  name: z.string(),
  title: z.string(),
  kind: z.enum(['host', 'cloud']),
  /** The default one first; empty where there are none. */
  regions: z.array(z.object({ name: z.string(), zones: z.array(z.string()) })),
  /** Where instances are launched, and as whom. `workspace`: only this one's; null: of all that have none of their own. */
  accounts: z.array(z.object({ workspace: z.string().nullable(), account: z.string(), detail: z.string() })),
  checks: z.array(cloudFinding),
});
export type Cloud = z.infer<typeof cloud>;

export const cloudList = z.object({ items: z.array(cloud) });
export type CloudList = z.infer<typeof cloudList>;

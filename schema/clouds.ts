// The clouds of a control plane and their health, over HTTP.
import { z } from 'zod';

export const checkCloud = z.strictObject({
  /** The name of a provider in the list of clouds. */
  cloud: z.string().max(50),
});

export const cloudFinding = z.object({
  /** The checked subject. */
  name: z.string(),
  state: z.enum(['ok', 'broken', 'unchecked']),
  text: z.string(),
  /** The remedy; empty when all is well. */
  fix: z.string(),
  at: z.iso.datetime().nullable(),
});

export const cloud = z.object({
  name: z.string(),
  title: z.string(),
  kind: z.enum(['host', 'cloud']),
  /** The default region first; empty where there are no regions. */
  regions: z.array(z.object({ name: z.string(), zones: z.array(z.string()) })),
  /** The accounts in which instances are launched. `workspace`: only for this one; null: for all without their own account. */
  accounts: z.array(z.object({ workspace: z.string().nullable(), account: z.string(), detail: z.string() })),
  checks: z.array(cloudFinding),
});
export type Cloud = z.infer<typeof cloud>;

export const cloudList = z.object({ items: z.array(cloud) });
export type CloudList = z.infer<typeof cloudList>;

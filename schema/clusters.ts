// Clusters over HTTP.
import { z } from 'zod';

import { reason } from './common.ts';

const count = z.number().int();
const time = z.iso.datetime().nullable();

export const clusterStatus = z.enum(['pending', 'starting', 'scaling', 'ready', 'stopping', 'stopped', 'error']);
export const instanceState = z.enum(['queued', 'starting', 'started', 'ready', 'stopping', 'stopped', 'error']);

export const instance = z.object({
  id: z.string(),
  role: z.enum(['head', 'worker']),
  state: instanceState,
  slot: count,
  generation: count,
  address: z.string().nullable(),
  launchedAt: z.iso.datetime(),
  registeredAt: time,
  reason: reason.nullable(),
});

export const cluster = z.object({
  number: count,
  workspace: z.string(),
  name: z.string(),
  job: count.nullable(),
  user: z.string(),
  status: clusterStatus,
  reason: reason.nullable(),
  target: count,
  provider: z.string(),
  instances: z.array(instance),
  failures: z.array(z.object({ code: z.string(), text: z.string(), count, lastAt: z.iso.datetime() })),
  events: z.array(z.object({ at: z.iso.datetime(), code: z.string(), text: z.string() })),
  createdAt: z.iso.datetime(),
  readyAt: time,
  endedAt: time,
  launched: count,
  terminated: count,
  staleSince: time,
});
export type Cluster = z.infer<typeof cluster>;
export const clusterPage = z.object({ items: z.array(cluster), next: z.string().nullable() });
export type ClusterPage = z.infer<typeof clusterPage>;

// A cluster or job at a past time: GET /v1/clusters/{number}/at and GET /v1/jobs/{number}/at.
import { z } from 'zod';

import { stageNames } from '../domain/cluster/statuses.ts';
import { reason } from './common.ts';
import { clusterEvent } from './events.ts';

export const atQuery = z.object({
  /** An RFC 3339 time, or an age, e.g. `20 minutes`; now by default. */
  time: z.string().max(50).optional(),
});
export type AtQuery = z.output<typeof atQuery>;

const instanceAt = z.object({
  id: z.string(),
  role: z.enum(['head', 'worker']),
  type: z.string(),
  zone: z.string(),
  market: z.enum(['on-demand', 'spot']),
  state: z.enum(['starting', 'ready', 'stopping', 'error']),
  /** State of its Dask process; null without one. */
  process: z.enum(['pending', 'starting', 'started', 'stopping', 'stopped', 'error']).nullable(),
  /** The stages reached by then. */
  stages: z.array(z.object({ name: z.enum(stageNames), at: z.iso.datetime() })),
});

const money = {
  /** US dollars from its start until then. */
  dollars: z.number(),
  /** For the instances that existed then. */
  dollarsPerHour: z.number(),
};

export const clusterAt = z.object({
  number: z.number().int(),
  name: z.string(),
  at: z.iso.datetime(),
  status: z.enum(['waiting', 'pending', 'starting', 'scaling', 'ready', 'stopping', 'stopped', 'error']),
  reason: reason.nullable(),
  /** Target number of instances, the head instance included. */
  target: z.number().int(),
  instances: z.array(instanceAt),
  /** Dask workers that had started and were not leaving; null for the cluster of a job. */
  workersStarted: z.number().int().nullable(),
  /** The newest ones until then. */
  events: z.array(clusterEvent),
  ...money,
});
export type ClusterAt = z.infer<typeof clusterAt>;

const count = z.number().int();

export const jobAt = z.object({
  number: z.number().int(),
  name: z.string(),
  at: z.iso.datetime(),
  status: z.enum(['waiting', 'pending', 'running', 'done', 'error', 'cancelled']),
  reason: reason.nullable(),
  /** `pending` includes tasks that an instance held but had not started, and tasks between two attempts. */
  tasks: z.object({
    ...{ total: count, pending: count, running: count, done: count, error: count, cancelled: count },
  }),
  /** Instances of the cluster that runs its tasks. */
  instances: z.array(instanceAt),
  ...money,
});
export type JobAt = z.infer<typeof jobAt>;

// A job's specification as it lies in the object store: written by the API before admission, read by the job's first
// activity. It holds no secret: command words, environment and files lie sealed in the bundle.
import { z } from 'zod';

import { machines, machinesInput } from './machines-spec.ts';

const count = z.number().int().min(0);

export const jobSpec = z.object({
  v: z.literal(1),
  workspace: z.string(),
  admissionId: z.string(),
  user: z.string(),
  bundleRef: z.string(),
  createdAt: z.iso.datetime(),
  /** Where files of its tasks are recorded; null: they are not kept. */
  filestore: z.string().nullable(),
  /** What was asked of machines: a retry with more memory chooses them anew. */
  machinesInput,
  settings: z.object({
    /** Filled with the admitted name by the job itself. */
    name: z.string(),
    command: z.string(),
    taskCount: count,
    array: z.string(),
    instances: count,
    leaseMs: count,
    retries: count,
    retryOn: z.object({ exitCodes: z.array(z.tuple([count, count])), signals: z.boolean() }).optional(),
    jobTimeoutMs: count.nullable(),
    provider: z.string(),
    providerQueue: z.string(),
    instanceVcpus: count,
    watchdogTimeoutMs: count,
    headTasks: z.array(count).optional(),
    gang: z.literal(true).optional(),
    /** The job whose failed tasks this one runs again. */
    retryOf: count.optional(),
    /** Of a job that joined the queue. */
    after: z.array(z.object({ number: count, needsSuccess: z.boolean() })).optional(),
    priority: z.number().int().optional(),
    /** Name of the schedule that it is a run of. */
    schedule: z.string().optional(),
    machines: machines.optional(),
    maxCostMicros: count.optional(),
  }),
});
export type JobSpec = z.infer<typeof jobSpec>;

// A job's specification in the object store: written by the API before admission, read by the job's first activity. It contains no secret: command
// words, environment and files are sealed in the bundle.
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
  /** The filestore that records its tasks' files; null when they are not kept. */
  filestore: z.string().nullable(),
  /** The requested machines: a retry with more memory selects machines anew. */
  machinesInput,
  settings: z.object({
    /** The job fills in the admitted name. */
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
    /** The job whose failed tasks this one retries. */
    retryOf: count.optional(),
    /** For a job that joined the queue. */
    after: z.array(z.object({ number: count, needsSuccess: z.boolean() })).optional(),
    priority: z.number().int().optional(),
    /** Name of the schedule that submitted it. */
    schedule: z.string().optional(),
    machines: machines.optional(),
    maxCostMicros: count.optional(),
  }),
});
export type JobSpec = z.infer<typeof jobSpec>;

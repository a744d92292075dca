// The protocol between the scheduler's preload and the agent, one JSON object per line. ropewalk_preload.py and
// ropewalk_orders.py are the other side; a change here requires a change there, and of `protocol`.
import { z } from 'zod';

import { usageReport } from '../../../schema/agent.ts';

const count = z.number().int().min(0);

export const hello = z.object({
  kind: z.literal('hello'),
  protocol: z.literal(1),
  /** The scheduler's monotonic clock at its hello message; all its times use this clock. */
  clockMs: count,
  schedulerId: z.string(),
  /** The scheduler's address for workers and clients: `tls://host:port`. */
  address: z.string(),
  /** Port of the dashboard and metrics, on loopback. */
  httpPort: count.nullable(),
  distributed: z.string(),
  dask: z.string(),
  python: z.string(),
});
export type Hello = z.infer<typeof hello>;

export const schedulerWorker = z.object({
  name: z.string(),
  address: z.string(),
  /** Dask's own status: `running`, `paused`, `closing_gracefully`... */
  status: z.string(),
  nthreads: count,
  processing: count,
  /** Of the whole process, as of its last heartbeat. */
  memoryBytes: count,
  /** Of the results in its memory. */
  managedBytes: count,
});
export type SchedulerWorker = z.infer<typeof schedulerWorker>;

export const schedulerState = z.object({
  kind: z.literal('state'),
  /** Current number of Dask keys in each state. */
  tasks: z.object({
    processing: count,
    waiting: count,
    queued: count,
    memory: count,
    erred: count,
    no_worker: count,
  }),
  /** Connected clients of people and programs; excludes Dask's own and those of tasks. */
  clients: count,
  /** By the scheduler's monotonic clock; null while there is work, including work that no worker can run. */
  idleSinceMs: z.number().int().nullable(),
  /** Desired number of workers, computed once per interval. */
  adaptiveTarget: count,
  /** Contains the kinds that the cluster's creator allows; absent from a preload without usage. */
  usage: usageReport.optional(),
  workers: z.array(schedulerWorker),
});
export type SchedulerState = z.infer<typeof schedulerState>;

export const answer = z.looseObject({
  kind: z.literal('answer'),
  id: count,
  ok: z.boolean(),
  error: z.string().optional(),
});

export const fromScheduler = z.discriminatedUnion('kind', [hello, schedulerState, answer]);

/** `deadline`: the worker still runs, closed to new work until it is ended, drained again or resumed. */
const drainOutcome = z.enum(['drained', 'kept', 'deadline', 'unknown']);
export type DrainOutcome = z.infer<typeof drainOutcome>;

const outcomes = <T extends z.ZodType>(outcome: T) => z.object({ workers: z.record(z.string(), outcome) });

export interface Orders {
  /**
   * Moves data to other workers, waits for running tasks, closes. A worker whose data has no other place is `kept` and
   * continues.
   */
  drain: { workers: string[]; deadlineSeconds: number };
  /** Drains without waiting: a running task is cancelled and runs again elsewhere. */
  retire: { workers: string[] };
  /** Reopens workers for work after a drain that met its deadline. */
  resume: { workers: string[] };
  /** For the scheduler, its present and future workers; null unsets. Values are never logged. */
  setEnv: { env: Record<string, string | null> };
  /** Dask's choice of the least useful workers. */
  workersToClose: { n: number };
  /** Parameters of `adaptiveTarget` in its state. */
  adaptive: { targetDurationSeconds: number; intervalSeconds: number };
  /** Under this path of the scheduler's HTTP port. The token is never logged. */
  startJupyter: { root: string; token: string };
  closeAll: Record<never, never>;
  /** Has no effect: an answer shows that the scheduler can read and write. */
  ping: Record<never, never>;
}
export type OrderKind = keyof Orders;

export const answers = {
  drain: outcomes(drainOutcome),
  retire: outcomes(z.enum(['retired', 'kept', 'unknown'])),
  resume: outcomes(z.enum(['resumed', 'unknown'])),
  setEnv: z.object({}),
  workersToClose: z.object({ workers: z.array(z.string()) }),
  adaptive: z.object({}),
  /** `missing`: the package that the environment lacks. */
  startJupyter: z.object({ missing: z.string().optional() }),
  closeAll: z.object({}),
  ping: z.object({}),
} satisfies Record<OrderKind, z.ZodType>;
export type Answers = { [K in OrderKind]: z.infer<(typeof answers)[K]> };

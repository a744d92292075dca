// What the scheduler's preload and the agent say to each other, one JSON object a line. ropewalk_preload.py and
// ropewalk_orders.py are the other side; a change here is a change there, and of `protocol`.
import { z } from 'zod';

import { usageReport } from '../../../schema/agent.ts';

const count = z.number().int().min(0);

export const hello = z.object({
  kind: z.literal('hello'),
  protocol: z.literal(1),
  /** The scheduler's monotonic clock when it said hello: times in its messages are of this clock. */
  clockMs: count,
  schedulerId: z.string(),
  /** Where workers and clients reach the scheduler: `tls://host:port`. */
  address: z.string(),
  /** Of the dashboard and metrics, on loopback. */
  httpPort: count.nullable(),
  distributed: z.string(),
  dask: z.string(),
  python: z.string(),
});
export type Hello = z.infer<typeof hello>;

export const schedulerWorker = z.object({
  name: z.string(),
  address: z.string(),
  /** Dask's own word: `running`, `paused`, `closing_gracefully`... */
  status: z.string(),
  nthreads: count,
  processing: count,
  /** Of the whole process, as of its last heartbeat. */
  memoryBytes: count,
  /** Of the results it holds. */
  managedBytes: count,
});
export type SchedulerWorker = z.infer<typeof schedulerWorker>;

export const schedulerState = z.object({
  kind: z.literal('state'),
  /** How many Dask keys are in each state now. */
  tasks: z.object({
    processing: count,
    waiting: count,
    queued: count,
    memory: count,
    erred: count,
    no_worker: count,
  }),
  /** Connected clients of people and programs; neither Dask's own nor those that tasks make. */
  clients: count,
  /** By the scheduler's monotonic clock; null while there is work, also work that no worker can take. */
  idleSinceMs: z.number().int().nullable(),
  /** Workers that it would like to have, judged once an interval. */
  adaptiveTarget: count,
  /** Of the kinds that the cluster's creator allows; absent from a preload without them. */
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

/** `deadline`: it still works, and stays closed to new work until it is ended, drained again or resumed. */
const drainOutcome = z.enum(['drained', 'kept', 'deadline', 'unknown']);
export type DrainOutcome = z.infer<typeof drainOutcome>;

const outcomes = <T extends z.ZodType>(outcome: T) => z.object({ workers: z.record(z.string(), outcome) });

export interface Orders {
  /** Moves data away, waits for running tasks, closes. A worker whose data has no other place is `kept` and goes on. */
  drain: { workers: string[]; deadlineSeconds: number };
  /** The same without waiting: a running task is cancelled and runs again elsewhere. */
  retire: { workers: string[] };
  /** Lets workers take work again after a drain that met its deadline. */
  resume: { workers: string[] };
  /** For the scheduler, its workers and those to come; null unsets. Values are never logged. */
  setEnv: { env: Record<string, string | null> };
  /** The scheduler's own choice of workers that would be missed least. */
  workersToClose: { n: number };
  /** How it judges its load: see `adaptiveTarget` of its state. */
  adaptive: { targetDurationSeconds: number; intervalSeconds: number };
  /** Under this path of the scheduler's HTTP port. The token is never logged. */
  startJupyter: { root: string; token: string };
  closeAll: Record<never, never>;
  /** Does nothing: a side that answers it can hear and speak. */
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
  /** `missing`: what the environment does not have. */
  startJupyter: z.object({ missing: z.string().optional() }),
  closeAll: z.object({}),
  ping: z.object({}),
} satisfies Record<OrderKind, z.ZodType>;
export type Answers = { [K in OrderKind]: z.infer<(typeof answers)[K]> };

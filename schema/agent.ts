// What agents say to the API. The same shapes, less the parsing, are domain/job/protocol.ts and workflows/cluster/messages.ts.
import { z } from 'zod';

const instanceId = z.string().regex(/^i_[0-9a-z]{8,64}$/);
const count = z.number().int().min(0);

export const registerRequest = z.strictObject({
  instance: instanceId,
  bootId: z.string().min(16).max(64),
  address: z.string().min(1).max(255),
  version: z.string().max(64),
  pid: count,
});
export type RegisterRequest = z.infer<typeof registerRequest>;

export const renewedToken = z.object({ instanceToken: z.string(), expiresAt: z.iso.datetime() });

export const registerAnswer = renewedToken.extend({
  cluster: z.object({ number: count, name: z.string() }),
  job: count.nullable(),
  role: z.enum(['head', 'worker']),
  schedulerAddress: z.string().nullable(),
});
export type RegisterAnswer = z.infer<typeof registerAnswer>;

export const reportRequest = z.strictObject({
  kind: z.enum(['alive', 'leaving']),
  bootId: z.string().min(16).max(64),
  address: z.string().min(1).max(255),
  text: z.string().max(1000).default(''),
});
export type ReportRequest = z.infer<typeof reportRequest>;

const stopOrder = z.object({ code: z.string(), text: z.string() }).nullable();

export const reportAnswerBody = z.object({ stop: stopOrder, token: renewedToken.nullable() });
export type ReportAnswerBody = z.infer<typeof reportAnswerBody>;

export const taskResult = z.strictObject({
  lease: count,
  task: count,
  attempt: count,
  exitCode: z.number().int().nullable(),
  signal: z.string().max(32).nullable(),
  startedAtMs: count,
  endedAtMs: count,
  reason: z.string().max(1000).nullable(),
});

export const exchangeRequest = z.strictObject({
  /** Counts up with each new claim, stays when the claim is repeated. */
  claim: count,
  want: z.number().int().min(0).max(100),
  running: z.array(count).max(1000),
  results: z.array(taskResult).max(1000),
});
export type ExchangeRequest = z.infer<typeof exchangeRequest>;

export const exchangeAnswerBody = z.object({
  grants: z.array(z.object({ lease: count, task: count, taskId: count, attempt: count })),
  acknowledged: z.array(count),
  drop: z.array(count),
  stop: stopOrder,
  retryAfterMs: count,
  renewWithinMs: count,
  taskCount: count,
  schedulerAddress: z.string().nullable(),
  readyWorkers: z.array(z.string()),
  token: renewedToken.nullable(),
});
export type ExchangeAnswerBody = z.infer<typeof exchangeAnswerBody>;

/** What a job's tasks run: fetched once by each agent, sealed at rest, deleted when the job ends. */
export const bundle = z.object({
  command: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()),
  files: z.array(z.object({ path: z.string(), contentBase64: z.string(), executable: z.boolean() })),
});
export type Bundle = z.infer<typeof bundle>;

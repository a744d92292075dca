// What agents say to the API. The same shapes, less the parsing, are domain/job/protocol.ts and contracts/cluster.ts.
import { z } from 'zod';

import { amount, bytes, exitCode, ordinal, spanMs, timeMs } from './agent-numbers.ts';
import { storedFile } from './files.ts';
import { runtime } from './runtime.ts';
import { sha256 } from './software.ts';

/** `i_...` are ours, on a user's own machine; `i-...` are EC2's; `rw-...` are of Compute Engine. */
const instanceId = z.string().regex(/^(i_[0-9a-z]{8,64}|i-[0-9a-f]{8,17}|rw-[0-9a-f]{10}-[0-9a-f]{10}-[0-9]{1,6})$/);
/** In answers: they are our own. What agents send has bounds, in agent-numbers.ts. */
const count = z.number().int().min(0);

/**
 * A header of every error that the API answers; its value is the error's code. An agent takes an answer without it, or with
 * another code in its body, for the answer of a proxy, and ends nothing because of it.
 */
export const errorHeader = 'ropewalk-error';

export const registerRequest = z.strictObject({
  instance: instanceId,
  bootId: z.string().min(16).max(64),
  /** For other instances. */
  address: z.string().min(1).max(255),
  /** For clients outside, where the instance has them. */
  publicAddress: z.union([z.ipv4(), z.ipv6()]).optional(),
  hostname: z.hostname().max(253).optional(),
  version: z.string().max(64),
  pid: ordinal,
  /** How long the machine is up, where it is the instance. */
  upForMs: spanMs.optional(),
  /** What a cloud says of the instance, signed by it: required to register as an instance of a cloud. */
  identity: z.strictObject({ document: z.string().max(8192), signature: z.string().max(2048) }).optional(),
});
export type RegisterRequest = z.infer<typeof registerRequest>;

export const renewedToken = z.object({ instanceToken: z.string(), expiresAt: z.iso.datetime() });

export const registerAnswer = renewedToken.extend({
  cluster: z.object({ number: count, name: z.string() }),
  job: count.nullable(),
  role: z.enum(['head', 'worker']),
  schedulerAddress: z.string().nullable(),
  /** After this long without an answer from us the agent ends its work. */
  watchdogTimeoutMs: z.number().int().positive(),
  /** On a cloud, tasks can use the role or service account of their instance. */
  instanceCredentials: z.boolean(),
});
export type RegisterAnswer = z.infer<typeof registerAnswer>;

const name = z.string().min(1).max(255);
const text = z.string().max(1000);

/** The Dask process of an instance, as its agent sees it. */
export const processReport = z.strictObject({
  state: z.enum(['pending', 'starting', 'started', 'stopping', 'stopped', 'error']),
  name,
  stage: z.string().max(100),
  address: z.string().max(255).nullable(),
  reason: z.strictObject({ code: z.string().max(100), text }).nullable(),
});

const usageName = z.string().max(80);
const seconds = z.number().min(0);

/** What a scheduler has computed, of the kinds that the cluster's creator allows; at most ten names of each. */
export const usageReport = z.strictObject({
  /** Tasks by the name of their function, those with the most seconds first. */
  groups: z
    .array(
      z.strictObject({
        name: usageName,
        tasks: amount,
        erred: amount,
        computeSeconds: seconds,
        transferSeconds: seconds,
      }),
    )
    .max(10)
    .optional(),
  /** Failed tasks by the type of their exception. */
  exceptions: z
    .array(z.strictObject({ type: usageName, count: amount }))
    .max(10)
    .optional(),
  /** Of all workers. */
  memory: z.strictObject({ usedBytes: bytes, limitBytes: bytes }).optional(),
});

/** What the scheduler says of itself, sent when it matters: clients, workers, idle or not; counts now and then. */
export const schedulerReport = z.strictObject({
  tasks: z.strictObject({ processing: amount, waiting: amount, memory: amount, erred: amount, noWorker: amount }),
  clients: amount,
  idleForMs: spanMs.nullable(),
  adaptiveTarget: amount.nullable(),
  workers: z.array(z.strictObject({ name, status: z.string().max(50), processing: amount })).max(2000),
  usage: usageReport.optional(),
});

export const drainReport = z.strictObject({ id: ordinal, outcome: z.enum(['drained', 'kept', 'deadline', 'unknown']) });

/** The cloud is about to take the instance at that time, or says that it may. */
export const interruption = z.strictObject({ kind: z.enum(['terminate', 'rebalance']), at: z.iso.datetime() });

/** How an instance came to its environment, for the events of its cluster. */
export const maxNotesOfReport = 10;
const note = z.strictObject({
  code: z.enum(['ENVIRONMENT_BUILT', 'ENVIRONMENT_DOWNLOADED', 'ENVIRONMENT_NOT_SHARED']),
  text: z.string().max(500),
});

export const reportRequest = z.strictObject({
  kind: z.enum(['alive', 'leaving']),
  bootId: z.string().min(16).max(64),
  address: z.string().min(1).max(255),
  text: z.string().max(1000).default(''),
  process: processReport.optional(),
  scheduler: schedulerReport.optional(),
  drained: z.array(drainReport).max(2000).optional(),
  notes: z.array(note).max(maxNotesOfReport).optional(),
  interruption: interruption.optional(),
  /** How long the scheduler has not answered its agent, or null when it does again; sent where the bundle asks for it. */
  unansweredForMs: spanMs.nullable().optional(),
  /** How many of its GPUs do nothing, and for how long the first of these; sent where the bundle asks for it. */
  gpus: z
    .strictObject({ total: z.number().int().min(0).max(64), idle: z.number().int().min(0).max(64), idleForMs: spanMs })
    .optional(),
});
export type ReportRequest = z.infer<typeof reportRequest>;

const stopOrder = z.object({ code: z.string(), text: z.string() }).nullable();

/** `seen`: the version that the agent has, absent when it has none. */
export const ordersQuery = z.object({
  seen: z
    .string()
    .regex(/^\d{1,15}$/, 'a whole number')
    .transform(Number)
    .optional(),
});

/** Answer of GET /v1/agent/orders?seen=VERSION, which is held for up to 50 s until there is a newer version. */
export const orders = z.object({
  version: count,
  schedulerAddress: z.string().nullable(),
  drain: z.array(z.object({ id: count, worker: z.string(), deadlineSeconds: z.number() })),
  /** How the scheduler judges its load; null while adaptive scaling is off. */
  adaptive: z.object({ targetDurationSeconds: z.number(), intervalSeconds: z.number() }).nullable(),
  stop: stopOrder,
});
export type Orders = z.infer<typeof orders>;

export const reportAnswerBody = z.object({
  stop: stopOrder,
  token: renewedToken.nullable(),
  /** Null for a job's cluster. */
  orders: orders.nullable(),
});
export type ReportAnswerBody = z.infer<typeof reportAnswerBody>;

export const taskResult = z.strictObject({
  lease: ordinal,
  task: ordinal,
  attempt: ordinal,
  exitCode: exitCode.nullable(),
  signal: z.string().max(32).nullable(),
  startedAtMs: timeMs,
  endedAtMs: timeMs,
  reason: z.string().max(1000).nullable(),
});

export const exchangeRequest = z.strictObject({
  /** Counts up with each new claim, stays when the claim is repeated. */
  claim: ordinal,
  want: z.number().int().min(0).max(100),
  running: z.array(ordinal).max(1000),
  /** Leases that wait for their turn, not begun; and leases handed back, never begun. Absent where one is held at a time. */
  held: z.array(ordinal).max(100).optional(),
  returned: z.array(ordinal).max(1000).optional(),
  results: z.array(taskResult).max(1000),
  /** The mark of the addresses that the agent has, so that they are not sent again. */
  addressesSeen: z.string().max(64).optional(),
  /** Whether this is the head instance, which stays to the end of its job. */
  head: z.boolean(),
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
  /** Its name, where its cloud gives it one. */
  schedulerHostname: z.string().nullable(),
  readyWorkers: z.array(z.string()),
  /** Marks the two addresses above; when it is the one that the agent has named, they are left out. */
  addresses: z.string().optional(),
  /** Leases that the agent may hold, with the running one. */
  mayHold: count,
  token: renewedToken.nullable(),
});
export type ExchangeAnswerBody = z.infer<typeof exchangeAnswerBody>;

/** GET /v1/agent/program/{sha256}. */
export const programParams = z.object({ sha256 });

/** POST /v1/agent/certificate: no private key crosses the wire. The role follows from the instance, never from the request. */
export const certificateRequest = z.strictObject({ csr: z.string().max(8192) });
export const certificateAnswer = z.object({ certificate: z.string(), ca: z.string() });

export const usageKind = z.enum(['groups', 'exceptions', 'memory']);

/** The agent reports GPUs that have done nothing for so long; null where none were asked for. */
const gpuIdleAfterMs = count.nullable();

/** What the instances of a Dask cluster run: the sealed bundle of a cluster, from the same GET /v1/agent/bundle. */
export const daskBundle = z.object({
  /** An environment is completed with Dask where its requirements name none. */
  runtime,
  env: z.record(z.string(), z.string()),
  /** Run on each instance before anything else. */
  hostSetupScript: z.string().nullable(),
  workerClass: z.string().nullable(),
  workerOptions: z.record(z.string(), z.unknown()),
  schedulerClass: z.string().nullable(),
  schedulerOptions: z.record(z.string(), z.unknown()),
  aliveEveryMs: count,
  /** The agent asks the scheduler now and then whether it answers. */
  unresponsiveTimeoutMs: count,
  /** 0: any free port. */
  schedulerPort: z.number().int().min(0).max(65_535),
  /** What the scheduler counts for people to see. */
  usage: z.array(usageKind),
  /** Of the Jupyter server beside the scheduler; null for none. */
  jupyterToken: z.string().nullable(),
  /** Dask workers that share one machine's memory when as many run as the cluster was started for; 1 where each has an instance to itself. */
  workersPerMachine: z.number().int().min(1),
  /** All instances run on one machine. */
  shareMachine: z.boolean(),
  /** Dask workers that each worker instance runs. */
  workersPerInstance: z.number().int().min(1),
  /** The head instance runs a worker too. */
  extraWorkerOnScheduler: z.boolean(),
  gpuIdleAfterMs,
});
export type DaskBundle = z.infer<typeof daskBundle>;

/** Variables of each task by its index: the same few names for all, or a record each. */
const taskInputs = z.union([
  z.object({ names: z.array(z.string()), values: z.array(z.string()) }),
  z.object({ variables: z.array(z.record(z.string(), z.string())) }),
]);

/** What a job's tasks run: fetched once by each agent, sealed at rest, deleted when the job ends. */
export const bundle = z.object({
  runtime,
  command: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()),
  /** The names of `env` that are secret. */
  secretNames: z.array(z.string()),
  /** Run on each instance before its first task. */
  hostSetupScript: z.string().nullable(),
  gpuIdleAfterMs,
  inputs: taskInputs.nullable(),
  /** Of a retry: how many tasks the job had whose failed ones it runs. Null: the job's own number. */
  taskCount: count.nullable(),
  /** A task that runs longer is ended, and has failed. */
  taskTimeoutMs: count.nullable(),
  files: z.array(z.object({ path: z.string(), contentBase64: z.string(), executable: z.boolean() })),
  /** To be downloaded, once by each instance. */
  inputFiles: z.array(storedFile),
  /** Files that a task creates or changes are uploaded, with what it printed where `pipe` says so; null: they are not. */
  output: z.object({ pipe: z.boolean() }).nullable(),
});
export type Bundle = z.infer<typeof bundle>;

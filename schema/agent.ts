// Agents' requests to the API. domain/job/protocol.ts and contracts/cluster.ts have the same shapes without the parsing.
import { z } from 'zod';

import { amount, bytes, exitCode, ordinal, spanMs, timeMs } from './agent-numbers.ts';
import { inputList, storedFile } from './files.ts';
import { runtime } from './runtime.ts';
import { sidecar } from './sidecars.ts';
import { sha256 } from './software.ts';

/** `i_...`: instances of a host; `i-...`: EC2; `rw-...`: Compute Engine. */
const instanceId = z.string().regex(/^(i_[0-9a-z]{8,64}|i-[0-9a-f]{8,17}|rw-[0-9a-f]{10}-[0-9a-f]{10}-[0-9]{1,6})$/);
/** For our own answers. Numbers from agents have bounds, in agent-numbers.ts. */
const count = z.number().int().min(0);

/**
 * A header of every error response of the API; its value is the error's code. An agent treats an error without it, or with another code in its body,
 * as a proxy's and ends nothing because of it.
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
  /** Uptime of the machine, where the machine is the instance. */
  upForMs: spanMs.optional(),
  /** The cloud's signed description of the instance, required to register an instance of a cloud. */
  identity: z.strictObject({ document: z.string().max(8192), signature: z.string().max(2048) }).optional(),
});
export type RegisterRequest = z.infer<typeof registerRequest>;

export const renewedToken = z.object({ instanceToken: z.string(), expiresAt: z.iso.datetime() });

export const registerAnswer = renewedToken.extend({
  cluster: z.object({ number: count, name: z.string(), workspace: z.string() }),
  job: count.nullable(),
  role: z.enum(['head', 'worker']),
  schedulerAddress: z.string().nullable(),
  /** The agent ends its work after this long without an answer from the API. */
  watchdogTimeoutMs: z.number().int().positive(),
  /** On a cloud, tasks can use the role or service account of their instance. */
  instanceCredentials: z.boolean(),
});
export type RegisterAnswer = z.infer<typeof registerAnswer>;

const name = z.string().min(1).max(255);
const text = z.string().max(1000);

/** The Dask process of an instance, as its agent reports it. */
export const processReport = z.strictObject({
  state: z.enum(['pending', 'starting', 'started', 'stopping', 'stopped', 'error']),
  name,
  stage: z.string().max(100),
  address: z.string().max(255).nullable(),
  reason: z.strictObject({ code: z.string().max(100), text }).nullable(),
});

const usageName = z.string().max(80);
const seconds = z.number().min(0);

/** A scheduler's computations, of the kinds that the cluster's creator allows; at most ten names of each. */
export const usageReport = z.strictObject({
  /** Tasks by function name, in descending order of seconds. */
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
  /** Memory of all workers. */
  memory: z.strictObject({ usedBytes: bytes, limitBytes: bytes }).optional(),
});

/** The scheduler's figures, sent when clients, workers or idleness change; counts are updated periodically. */
export const schedulerReport = z.strictObject({
  tasks: z.strictObject({ processing: amount, waiting: amount, memory: amount, erred: amount, noWorker: amount }),
  clients: amount,
  idleForMs: spanMs.nullable(),
  adaptiveTarget: amount.nullable(),
  workers: z.array(z.strictObject({ name, status: z.string().max(50), processing: amount })).max(2000),
  usage: usageReport.optional(),
});

export const drainReport = z.strictObject({ id: ordinal, outcome: z.enum(['drained', 'kept', 'deadline', 'unknown']) });

/** The cloud's announcement that it will terminate the instance at that time, or may do so. */
export const interruption = z.strictObject({ kind: z.enum(['terminate', 'rebalance']), at: z.iso.datetime() });

/** How an instance got its environment, for the events of its cluster. */
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
  /** How long the scheduler has not answered its agent, or null when it answers again; sent where the bundle asks for it. */
  unansweredForMs: spanMs.nullable().optional(),
  /** Its idle GPUs, and how long the first of them has been idle; sent where the bundle asks for it. */
  gpus: z
    .strictObject({ total: z.number().int().min(0).max(64), idle: z.number().int().min(0).max(64), idleForMs: spanMs })
    .optional(),
});
export type ReportRequest = z.infer<typeof reportRequest>;

const stopOrder = z.object({ code: z.string(), text: z.string() }).nullable();

/** `seen`: the version that the agent has; absent when it has none. */
export const ordersQuery = z.object({
  seen: z
    .string()
    .regex(/^\d{1,15}$/, 'a whole number')
    .transform(Number)
    .optional(),
});

/** Answer of GET /v1/agent/orders?seen=VERSION, which is held for up to 50 s until a newer version exists. */
export const orders = z.object({
  version: count,
  schedulerAddress: z.string().nullable(),
  drain: z.array(z.object({ id: count, worker: z.string(), deadlineSeconds: z.number() })),
  /** How the scheduler evaluates its load; null while adaptive scaling is off. */
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
  /** Incremented with each new claim, unchanged when the claim is repeated. */
  claim: ordinal,
  want: z.number().int().min(0).max(100),
  running: z.array(ordinal).max(1000),
  /** `held`: leases that wait for their turn. `returned`: returned leases whose commands never began. Absent when agents hold one lease at a time. */
  held: z.array(ordinal).max(100).optional(),
  returned: z.array(ordinal).max(1000).optional(),
  results: z.array(taskResult).max(1000),
  /** The tag of the agent's addresses, which are then not sent again. */
  addressesSeen: z.string().max(64).optional(),
  /** Whether this is the head instance, which stays until its job ends. */
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
  /** Its host name, where its cloud assigns one. */
  schedulerHostname: z.string().nullable(),
  readyWorkers: z.array(z.string()),
  /** A tag of the two addresses above, which are left out when the agent already has this tag. */
  addresses: z.string().optional(),
  /** Maximum number of leases that the agent may hold, with the running one. */
  mayHold: count,
  token: renewedToken.nullable(),
});
export type ExchangeAnswerBody = z.infer<typeof exchangeAnswerBody>;

/** GET /v1/agent/program/{sha256}. */
export const programParams = z.object({ sha256 });

/** POST /v1/agent/certificate: no private key is sent. The role is determined by the instance, never by the request. */
export const certificateRequest = z.strictObject({ csr: z.string().max(8192) });
export const certificateAnswer = z.object({ certificate: z.string(), ca: z.string() });

export const usageKind = z.enum(['groups', 'exceptions', 'memory']);

/** The agent reports GPUs that have been idle for this long; null when no GPUs were requested. */
const gpuIdleAfterMs = count.nullable();

/** The sealed bundle of a Dask cluster's instances, from the same GET /v1/agent/bundle. */
export const daskBundle = z.object({
  /** Dask is added to an environment whose requirements lack it. */
  runtime,
  env: z.record(z.string(), z.string()),
  /** Run on each instance before anything else. */
  hostSetupScript: z.string().nullable(),
  workerClass: z.string().nullable(),
  workerOptions: z.record(z.string(), z.unknown()),
  schedulerClass: z.string().nullable(),
  schedulerOptions: z.record(z.string(), z.unknown()),
  aliveEveryMs: count,
  /** The agent probes the scheduler periodically. */
  unresponsiveTimeoutMs: count,
  /** 0 for any free port. */
  schedulerPort: z.number().int().min(0).max(65_535),
  /** The kinds of usage data that the scheduler collects. */
  usage: z.array(usageKind),
  /** Token of the Jupyter server beside the scheduler; null for none. */
  jupyterToken: z.string().nullable(),
  /** Maximum number of Dask workers that share one machine's memory; 1 where each has its own instance. */
  workersPerMachine: z.number().int().min(1),
  /** All instances run on one machine. */
  shareMachine: z.boolean(),
  /** Dask workers on each worker instance. */
  workersPerInstance: z.number().int().min(1),
  /** The head instance runs a worker too. */
  extraWorkerOnScheduler: z.boolean(),
  gpuIdleAfterMs,
});
export type DaskBundle = z.infer<typeof daskBundle>;

/** Environment variables of each task by index: the same names for all, a record each, or the lines of a stored file, of which a retry chooses some. */
const taskInputs = z.union([
  z.object({ names: z.array(z.string()), list: inputList, chosen: z.string().nullable() }),
  z.object({ names: z.array(z.string()), values: z.array(z.string()) }),
  z.object({ variables: z.array(z.record(z.string(), z.string())) }),
]);

/** The bundle of a job's tasks: downloaded once by each agent, sealed at rest, deleted when the job ends. */
export const bundle = z.object({
  runtime,
  command: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()),
  /** The names in `env` whose values are secret. */
  secretNames: z.array(z.string()),
  /** Run on each instance before its first task. */
  hostSetupScript: z.string().nullable(),
  gpuIdleAfterMs,
  inputs: taskInputs.nullable(),
  /** For a retry: the number of tasks of the retried job. Null for the job's own number. */
  taskCount: count.nullable(),
  /** A task that runs longer is ended and fails. */
  taskTimeoutMs: count.nullable(),
  files: z.array(z.object({ path: z.string(), contentBase64: z.string(), executable: z.boolean() })),
  /** Downloaded once by each instance. */
  inputFiles: z.array(storedFile),
  /** Uploads files that a task creates or changes, and its output where `pipe` is true; null for no upload. */
  output: z.object({ pipe: z.boolean() }).nullable(),
  /** Containers that the head instance runs beside its tasks. */
  sidecars: z.array(sidecar).optional(),
});
export type Bundle = z.infer<typeof bundle>;

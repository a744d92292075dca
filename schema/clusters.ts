// Clusters over HTTP.
import { z } from 'zod';

import { maxValueDepth } from '../domain/requests/limits.ts';
import { containerInput, hostSetupScript } from './container.ts';
import { durationInput, listOf, listQuery, maxCostInput, nameInput, reason } from './common.ts';
import { clusterMachinesInput } from './machines.ts';
import { usageKind, usageReport } from './agent.ts';
import { envMap } from './jobs.ts';
import { ownCost } from './costs.ts';
import { clusterEvent } from './events.ts';
import { planPrice } from './plans.ts';
import { environment, software } from './software.ts';

const count = z.number().int();
const time = z.iso.datetime().nullable();

/** `waiting`: for an approval, then for room in the quota; it has no workflow yet. */
export const clusterStatus = z.enum([
  'waiting',
  'pending',
  'starting',
  'scaling',
  'ready',
  'stopping',
  'stopped',
  'error',
]);
export const instanceState = z.enum(['starting', 'ready', 'stopping', 'error']);

/** Free-form, nested at most `maxValueDepth` levels. */
const freeValue = z.unknown().refine((value) => isShallow(value, maxValueDepth), {
  error: `nested deeper than ${maxValueDepth} levels`,
});

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1));
}

const workerCount = z.number().int().min(0).max(1000);

export const createCluster = z.strictObject({
  ...clusterMachinesInput,
  name: nameInput.optional(),
  /** When an open cluster has the name, return that one. */
  getOrCreate: z.boolean().default(true),
  /** Number of Dask workers, besides the scheduler. With a range, the number follows the load; `[4, 20]` by default. */
  workers: z.union([workerCount, z.tuple([workerCount, workerCount])]).optional(),
  /** The Python environment, built by uv; pinned versions of dask, distributed and bokeh are added unless it names them. */
  software: software.optional(),
  /** Or a container image that contains Dask; exclusive with software. */
  ...containerInput,
  /** Or the name of an environment of the workspace (PUT /v1/environments/{environment}). */
  softwareName: nameInput.optional(),
  /** A script that each instance runs once, before anything else; with its `#!` line, or else by bash. */
  hostSetupScript,
  /** A Jupyter server beside the scheduler, for users who may run code on the cluster; its environment must contain jupyterlab. */
  jupyter: z.boolean().default(false),
  /** Usage data that the scheduler collects and the cluster shows: numbers by names of functions and types of exceptions. `[]` for none. */
  usage: z.array(usageKind).max(3).default(['groups', 'exceptions', 'memory']),
  env: envMap.default({}),
  secretEnv: envMap.default({}),
  workerClass: z.string().max(200).optional(),
  workerOptions: z.record(z.string().max(100), freeValue).default({}),
  /** Dask workers on each worker instance, which share its threads and memory; `workers` then counts instances. */
  workersPerInstance: z.number().int().min(1).max(64).default(1),
  /** The scheduler's instance runs a worker too, in addition to `workers`; no scaling removes it. */
  extraWorkerOnScheduler: z.boolean().default(false),
  schedulerClass: z.string().max(200).optional(),
  schedulerOptions: z.record(z.string().max(100), freeValue).default({}),
  idleTimeout: durationInput.default('20 minutes'),
  /** Ends the cluster when no client has been connected for this long. */
  noClientTimeout: durationInput.optional(),
  startTimeout: durationInput.default('10 minutes'),
  /** Ends the cluster when its scheduler runs but has not answered for this long. */
  unresponsiveTimeout: durationInput.default('20 minutes'),
  maxLifetime: durationInput.optional(),
  /** Ends the cluster when its instances have cost this much, in US dollars. */
  maxCost: maxCostInput.optional(),
  drainTimeout: durationInput.default('2 minutes'),
  /** How long an instance may be silent before it is inspected. */
  lease: durationInput.default('9 minutes'),
  /** An instance ends itself after this long without an answer from the control plane; default 30 minutes. */
  watchdogTimeout: durationInput.optional(),
  /** Other users see only that it exists, and its status; all other data is visible only to its creator. */
  privateToCreator: z.boolean().default(false),
});
export type CreateCluster = z.input<typeof createCluster>;
export type CreateClusterParsed = z.output<typeof createCluster>;

export const createdCluster = z.object({
  number: z.number().int(),
  name: z.string(),
  existing: z.boolean(),
  warnings: z.array(z.string()),
  /** Why it waits for an admin's approval, with status `waiting`: nothing is launched before. */
  needsApproval: z.string().optional(),
  /** Temporal is unavailable: the cluster is accepted, and starts when Temporal is available again. */
  acceptedForLater: z.literal(true).optional(),
  /** For a new cluster on a cloud: the price of all its instances together. */
  pricePerHour: planPrice.optional(),
});
export type CreatedCluster = z.infer<typeof createdCluster>;

export const scaleCluster = z.strictObject({ workers: z.number().int().min(0).max(1000) });
/** Both or neither; without them adaptive scaling is turned off. */
export const adaptCluster = z.strictObject({
  minimum: z.number().int().min(0).max(1000).optional(),
  maximum: z.number().int().min(1).max(1000).optional(),
  /** The scheduler requests enough workers to finish its known work in this time; default 3 minutes. */
  targetDuration: durationInput.optional(),
  /** A worker is closed after so many consecutive intervals in which it was not needed; default 24. */
  waitCount: z.number().int().min(1).max(100_000).optional(),
  /** How often the scheduler evaluates its load; default 5 seconds. */
  interval: durationInput.optional(),
});
export type AdaptCluster = z.input<typeof adaptCluster>;
export const keepaliveCluster = z.strictObject({ timeout: durationInput.optional() });

/** Credentials that allow running code on the cluster. */
export const credentials = z.object({
  schedulerAddress: z.string(),
  /** PEM. */
  ca: z.string(),
  certificate: z.string(),
  key: z.string(),
  expiresAt: z.iso.datetime(),
  /**
   * The cluster's Python environment as its creator defined it, or the default packages without requirements. Null without an environment, and for a
   * cluster older than its sealed settings.
   */
  environment: environment.nullable(),
});
export type Credentials = z.infer<typeof credentials>;

export const dashboardLink = z.object({ url: z.string(), expiresAt: z.iso.datetime() });
export type DashboardLink = z.infer<typeof dashboardLink>;

export const clusterLogsQuery = z.object({
  instance: z.string().max(100).optional(),
  follow: z.enum(['true', 'false']).default('false'),
  since: z.iso.datetime().optional(),
});

export const listClustersQuery = listQuery.extend({
  name: nameInput.optional(),
  status: listOf(clusterStatus).optional(),
  /** `job`: clusters that run the tasks of a job. `dask`: all others. */
  kind: z.enum(['dask', 'job']).optional(),
});
export type ListClustersQuery = z.output<typeof listClustersQuery>;

export const daskProcess = z.object({
  name: z.string(),
  state: z.enum(['pending', 'starting', 'started', 'stopping', 'stopped', 'error']),
  stage: z.string(),
  address: z.string().nullable(),
  reason: reason.nullable(),
  at: z.iso.datetime(),
});

export const dask = z.object({
  /** Null until the scheduler has started. */
  schedulerAddress: z.string().nullable(),
  workersWanted: z.number().int(),
  workersStarted: z.number().int(),
  workersErrored: z.number().int(),
  tasks: z
    .object({
      processing: z.number(),
      waiting: z.number(),
      memory: z.number(),
      erred: z.number(),
      noWorker: z.number(),
    })
    .nullable(),
  clients: z.number().int().nullable(),
  /** Computations since the scheduler started, also of an ended cluster. Null when there are none, or when usage data is off. */
  usage: usageReport.nullable().optional(),
  idleSince: z.iso.datetime().nullable(),
  /** Since when the scheduler runs but does not answer. */
  unresponsiveSince: z.iso.datetime().nullable().optional(),
  adaptive: z
    .object({
      minimum: count,
      maximum: count,
      targetDurationSeconds: z.number(),
      waitCount: count,
      intervalSeconds: z.number(),
    })
    .nullable(),
});

export const instance = z.object({
  id: z.string(),
  role: z.enum(['head', 'worker']),
  state: instanceState,
  slot: count,
  generation: count,
  address: z.string().nullable(),
  /** For clients outside the cloud's network; null for an instance without one. */
  publicAddress: z.string().nullable(),
  /** Its instance type. */
  type: z.string(),
  market: z.enum(['on-demand', 'spot']),
  launchedAt: z.iso.datetime(),
  registeredAt: time,
  reason: reason.nullable(),
  process: daskProcess.nullable(),
  /** The stages of its start so far, in order. */
  stages: z
    .array(
      z.object({
        name: z.enum(['requested', 'launched', 'running', 'agent', 'environment', 'dask']),
        at: z.iso.datetime(),
      }),
    )
    .optional(),
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
  /** Null where there are no regions. */
  region: z.string().nullable().optional(),
  instances: z.array(instance),
  failures: z.array(z.object({ code: z.string(), text: z.string(), count, lastAt: z.iso.datetime() })),
  /** The newest 50; `GET /v1/clusters/{number}/events` has all. */
  events: z.array(clusterEvent),
  createdAt: z.iso.datetime(),
  readyAt: time,
  endedAt: time,
  launched: count,
  terminated: count,
  /** Unavailable instances: since when, the time of the next attempt, and the time limit. */
  waitingForCapacity: z
    .object({
      since: z.iso.datetime(),
      nextTry: z.iso.datetime(),
      until: time,
      missing: count,
      text: z.string(),
    })
    .nullable()
    .optional(),
  /** Null for a job's cluster. */
  dask: dask.nullable(),
  /** GPUs of its instances, and how many of them have been idle for 15 minutes; null until an instance has reported GPUs. */
  gpus: z.object({ total: count, idle: count, idleSince: time }).nullable().optional(),
  staleSince: time,
  /** The approximate cost of its instances so far; only in lists and single reads. */
  cost: ownCost.optional(),
  /** Temporal is unavailable, or the cluster has not started yet: the command to end it is stored and delivered later. */
  acceptedForLater: z.literal(true).optional(),
  /** Private to another user: fields that only its creator may see are empty. */
  withheld: z.literal(true).optional(),
});
export type Cluster = z.infer<typeof cluster>;
export const clusterPage = z.object({ items: z.array(cluster), next: z.string().nullable() });
export type ClusterPage = z.infer<typeof clusterPage>;

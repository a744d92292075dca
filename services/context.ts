// What every service gets: its dependencies, the caller, and the request's id. Built once per process, never global.
import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { maxHeldMs } from '../domain/liveness/limits.ts';
import {
  bodyMemoryBytes,
  bodyMemoryShares,
  bodyMemoryWaitMs,
  defaultBodyBytesBurst,
  defaultBodyBytesPerSecond,
  defaultOpenStreams,
  defaultRequestBurst,
  defaultRequestsPerSecond,
  maxWaitingBodies,
} from '../domain/requests/limits.ts';
import { maxFileStreams } from '../domain/file-limits.ts';
import type { ExchangeAnswer, ExchangeItem } from '../domain/job/protocol.ts';
import type { Role, Scope } from '../domain/people/state.ts';
import type { Keys } from '../platform/keys.ts';
import { noMetrics, type ApiMetrics, type UpdateKind } from '../platform/metrics/api-metrics.ts';
import type { FileStore } from '../platform/objects/files.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { InstanceClaims, LaunchClaims, Tokens } from '../platform/tokens.ts';
import type { RequestTracer } from '../platform/tracing/request-span.ts';
import type { Vault } from '../platform/vault/vault.ts';
import { clusterMessages, type ReportAnswer, type ReportItem } from '../contracts/cluster.ts';
import { jobMessages } from '../contracts/job.ts';
import type { Store } from '../store/store.ts';
import { createStarter, type Starter } from './admission/starter.ts';
import { createTokenCache, type TokenCache } from './auth/token-cache.ts';
import type { FlushWatch } from './group-commit/group-commit.ts';
import { createGroupCommits, type GroupCommits } from './group-commit/registry.ts';
import { createTemporalFlush } from './group-commit/temporal-flush.ts';
import { readClusterOrders, readRowOrders } from './agents/orders.ts';
import { type BodyMemory, createBodyMemory } from './body-memory.ts';
import { createPrograms, type Programs } from './agents/program.ts';
import { createKeepalives, type Keepalives } from './clusters/keepalives.ts';
import { createFileStreams, type FileStreams } from './files/streams.ts';
import { createLoginRates, type LoginRates } from './login/rates.ts';
import { type DamageReport, reportOnce } from './damaged-objects.ts';
import { createHeardAgents, type HeardAgents } from './liveness/heard.ts';
import { createLivenessRounds, type LivenessRounds } from './liveness/round.ts';
import { createTaskRecords, type TaskRecords } from './jobs/task-records.ts';
import { createOrderWatch, type OrderWatch } from './order-watch.ts';
import { createQuotas, type QuotaLimits, type Quotas } from './quotas.ts';
import type { Providers } from './providers.ts';
import { withQuickOutages } from './quick-outages.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { noSchedules, type SchedulesPort } from './schedules/port.ts';
import { createViews, type Views } from './views.ts';
import { createWebhookRounds, type WebhookRounds } from './webhooks/rounds.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/** What the composition root brings. */
export interface Ports {
  workflows: WorkflowsPort;
  store: Store;
  /** Whose database and namespace these are. */
  deploymentId: string;
  objects: Objects;
  /** The content of jobs' files, in the same place. */
  files: FileStore;
  vault: Vault;
  tokens: Tokens;
  keys: Keys;
  logger: Logger;
  now: () => number;
  /** Never steps back, unlike `now`: for ages and intervals within this process. */
  monotonicMs: () => number;
  /** Where people reach this API: for links. */
  publicUrl: string;
  /** Where browsers reach dashboards (domain/cluster/dask/dashboard-url.ts); null: they are off. */
  dashboardUrl: string | null;
  /** The web application; null: it is not served. */
  web: { version: string; html: string; js: string; css: string } | null;
  providers: Providers;
  /** Aborts when the process ends: open streams are cut, and their readers come back to another replica. */
  stopping: AbortSignal;
  /** Default: as while Temporal is unavailable. */
  schedules?: SchedulesPort;
  /** Webhooks may go to loopback, private and link-local addresses, and over plain HTTP. Default: they may not. */
  allowPrivateWebhooks?: boolean;
  /** Default: nothing is counted. */
  metrics?: ApiMetrics;
  /** Default: tracing is off. */
  trace?: RequestTracer;
  /** What one caller may ask. Default: that of domain/limits.ts. */
  quotas?: Partial<QuotaLimits>;
  /** Proxies of ours before the API, each of which adds to X-Forwarded-For. Default: none, the header is not read. */
  trustedProxies?: number;
  /** Rejects when the key file cannot be read any more. Default: it always can. */
  readKeys?: () => Promise<unknown>;
  /** Jobs and clusters that have started and not ended, on one host. Default: any number. */
  maxOpenOnHost?: number;
  /** The name of this process among the replicas; a process that takes its place has the same one. Default: a random one. */
  replica?: string;
}

export interface Deps extends Omit<Ports, 'quotas'> {
  allowPrivateWebhooks: boolean;
  schedules: SchedulesPort;
  webhooks: WebhookRounds;
  damaged: DamageReport;
  quotas: Quotas;
  bodyMemory: BodyMemory;
  fileStreams: FileStreams;
  programs: Programs;
  metrics: ApiMetrics;
  readiness: () => Promise<Readiness>;
  views: Views;
  taskRecords: TaskRecords;
  tokenCache: TokenCache;
  starter: Starter;
  reports: GroupCommits<ReportItem, ReportAnswer>;
  exchanges: GroupCommits<ExchangeItem, ExchangeAnswer>;
  orders: OrderWatch;
  heard: HeardAgents;
  liveness: LivenessRounds;
  keepalives: Keepalives;
  loginRates: LoginRates;
}

/** A person or program with an API token. */
export interface Actor {
  workspace: string;
  user: string;
  /** Never reused: a name that was removed and added again is another user. */
  userId: string;
  tokenId: string;
  role: Role;
  /** Those of the token, as far as the user's role has them now. */
  scopes: readonly Scope[];
  expiresAtMs: number | null;
  /** When the token was checked, by the monotonic clock. */
  checkedAtMs: number;
}

export interface Context<A = Actor> {
  deps: Deps;
  actor: A;
  requestId: string;
}

/** An instance that may talk, and a launch whose instances may register. */
export type InstanceContext = Context<InstanceClaims & { expiresAtMs: number }>;
export type LaunchContext = Context<LaunchClaims>;

export function createDeps(ports: Ports): Deps {
  const { metrics = noMetrics, readKeys = () => Promise.resolve(), replica = randomUUID() } = ports;
  const workflows = withQuickOutages(ports.workflows);
  const damaged = reportOnce(ports.logger);
  const { allowPrivateWebhooks = false, schedules = noSchedules } = ports;
  const known = { ...ports, workflows, metrics, damaged, allowPrivateWebhooks, schedules };
  const { monotonicMs } = ports;
  const views = createViews(known);
  const clocks = () => ({ monotonicMs: monotonicMs(), wallMs: ports.now() });
  const watch = (update: UpdateKind): FlushWatch => ({
    flushed: (flush) => metrics.flushed(update, flush),
    turnedAway: () => metrics.turnedAway(update),
  });
  return {
    ...known,
    quotas: createQuotas({ ...defaultQuotas, ...ports.quotas }, monotonicMs),
    bodyMemory: createBodyMemory({
      totalBytes: bodyMemoryBytes,
      ...bodyMemoryShares,
      maxWaiting: maxWaitingBodies,
      waitMs: bodyMemoryWaitMs,
    }),
    fileStreams: createFileStreams(maxFileStreams),
    programs: createPrograms(ports.objects),
    readiness: createReadiness({ ...known, now: monotonicMs, readKeys, replica: randomUUID() }),
    views,
    taskRecords: createTaskRecords(ports.objects, damaged),
    tokenCache: createTokenCache({ ...known, now: monotonicMs }),
    starter: createStarter(known),
    webhooks: createWebhookRounds(known),
    reports: createGroupCommits({
      flush: createTemporalFlush(workflows, clusterMessages.report),
      watch: watch('report'),
    }),
    orders: createOrderWatch({
      read: (key, maxAgeMs) => readClusterOrders(views, key, maxAgeMs),
      readRow: (key) => readRowOrders(views, key),
      versions: (clusters) => ports.store.clusters.versions(clusters),
      holdMs: maxHeldMs,
      monotonicMs,
    }),
    heard: createHeardAgents(clocks),
    liveness: createLivenessRounds(clocks, replica),
    keepalives: createKeepalives(monotonicMs),
    loginRates: createLoginRates(monotonicMs),
    exchanges: createGroupCommits({
      flush: createTemporalFlush(workflows, jobMessages.exchange),
      watch: watch('exchange'),
      answerBytes: ({ want, running, held = [], results }) =>
        answerBytes + want * grantBytes + (running.length + held.length + results.length) * leaseBytes,
    }),
  };
}

const defaultQuotas: QuotaLimits = {
  requestsPerSecond: defaultRequestsPerSecond,
  requestBurst: defaultRequestBurst,
  openStreams: defaultOpenStreams,
  bodyBytesPerSecond: defaultBodyBytesPerSecond,
  bodyBytesBurst: defaultBodyBytesBurst,
};

const answerBytes = 200;
const grantBytes = 90;
const leaseBytes = 12;

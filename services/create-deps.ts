// Builds the dependencies of the services, once per process.
import { randomUUID } from 'node:crypto';
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
import { defaultArchiveDays } from '../domain/environment/limits.ts';
import { maxFileBytes, maxFileStreams } from '../domain/file-limits.ts';
import { createSealedTexts } from '../platform/sealed-text.ts';
import { noMetrics, type UpdateKind } from '../platform/metrics/api-metrics.ts';
import { clusterMessages } from '../contracts/cluster.ts';
import { jobMessages } from '../contracts/job.ts';
import { createStarter } from './admission/starter.ts';
import { createTokenCache } from './auth/token-cache.ts';
import type { FlushWatch } from './group-commit/group-commit.ts';
import { createGroupCommits } from './group-commit/registry.ts';
import { createTemporalFlush } from './group-commit/temporal-flush.ts';
import { readClusterOrders, readRowOrders } from './agents/orders.ts';
import { createBodyMemory } from './body-memory.ts';
import { createPrograms } from './agents/program.ts';
import { createKeepalives } from './clusters/keepalives.ts';
import { createFairQueue } from './fair-queue.ts';
import { createFileStreams } from './files/streams.ts';
import { createSharedReads } from './live/shared-reads.ts';
import { createLinkMails } from './login/link-mails.ts';
import { createLoginRates } from './login/rates.ts';
import { reportOnce } from './damaged-objects.ts';
import { createHeardAgents } from './liveness/heard.ts';
import { createLivenessRounds } from './liveness/round.ts';
import { createTaskRecords } from './jobs/task-records.ts';
import { createOrderWatch } from './order-watch.ts';
import { createQuotas, type QuotaLimits } from './quotas.ts';
import { withQuickOutages } from './quick-outages.ts';
import { createKnownContents } from './shared-builds/known-contents.ts';
import { createReadiness } from './readiness.ts';
import { noSchedules } from './schedules/port.ts';
import { createViews } from './views.ts';
import { createTurns } from './turns.ts';
import { createWebhookRounds } from './webhooks/rounds.ts';
import type { Deps } from './context.ts';
import type { CompletePorts, Ports } from './ports.ts';

export function createDeps(ports: Ports): Deps {
  const { metrics = noMetrics, readKeys = () => Promise.resolve(), replica = randomUUID() } = ports;
  const workflows = withQuickOutages(ports.workflows);
  const damaged = reportOnce(ports.logger);
  const {
    ingressPolicy = 'any',
    allowPrivateWebhooks = false,
    mailer = null,
    schedules = noSchedules,
    signIn = null,
    mailSignIn = null,
  } = ports;
  const { archives = { keptMs: defaultArchiveDays * 86_400_000, maxBytes: maxFileBytes } } = ports;
  const known: CompletePorts = {
    ...ports,
    workflows,
    metrics,
    damaged,
    allowPrivateWebhooks,
    ingressPolicy,
    mailer,
    schedules,
    signIn,
    mailSignIn,
    archives,
  };
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
    fairQueue: createFairQueue({ monotonicMs }),
    fileStreams: createFileStreams(maxFileStreams),
    sharedContents: createKnownContents(),
    programs: createPrograms(ports.objects),
    readiness: createReadiness({ ...known, now: monotonicMs, readKeys, replica: randomUUID() }),
    views,
    sharedReads: createSharedReads(monotonicMs),
    taskRecords: createTaskRecords(ports.objects, damaged),
    turns: createTurns(),
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
    linkMails: createLinkMails(ports.logger),
    sealedTexts: createSealedTexts(ports.keys, ports.now),
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

// The Temporal worker: runs the workflows, the activities that any worker can run, and those of each enabled provider on the
// queues of its places: one for this machine, so that `terminate` reaches the host of the process, and one per region.
import { flushCompileCache } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';

import { createAdoptActivities } from './activities/adopt.ts';
import { createInstanceActivities } from './activities/instances.ts';
import { observeActivities } from './activities/observe.ts';
import { createReconcileActivities } from './activities/reconcile.ts';
import { createRecordActivities } from './activities/records.ts';
import { createScheduleActivities } from './activities/schedules.ts';
import { createSpecActivities } from './activities/specs.ts';
import { createStuckWorkflowActivities } from './activities/stuck-workflows.ts';
import { createSweepListActivities } from './activities/sweep-list.ts';
import { createSweepActivities } from './activities/sweep.ts';
import { createTaskPageActivities } from './activities/task-pages.ts';
import { readForeign, readOrExit, waitOrExit } from './platform/environment.ts';
import { RopewalkError } from './domain/errors.ts';
import type { Owner } from './domain/owner.ts';
import { noDeployment, requireDeployment, type DeploymentParts } from './platform/deployment.ts';
import { largeMessages } from './platform/large-messages.ts';
import { openKeys } from './platform/open-keys.ts';
import { createLogger } from './platform/logger.ts';
import { createRegistry as createMetricsRegistry } from './platform/metrics/registry.ts';
import { serveMetrics } from './platform/metrics/serve.ts';
import { createWorkerMetrics, freeLoopbackPort, readTemporalMetrics } from './platform/metrics/worker-metrics.ts';
import { type NamespaceClaim, readNamespace, requireOwnNamespace } from './platform/namespace-claim.ts';
import { openObjects } from './platform/objects/open.ts';
import { namespaceOf, temporalVariables } from './platform/temporal-namespace.ts';
import { createTokens } from './platform/tokens.ts';
import { createVault } from './platform/vault/vault.ts';
import { createReplayer } from './platform/replayer.ts';
import { workflowTaskOptions } from './platform/workflow-slots.ts';
import { readVersion } from './platform/version.ts';
import { readWorkerSettings, type WorkerSettings } from './platform/worker-settings.ts';
import { enabledProviders, requireSettingsOf } from './providers/manifests.ts';
import { createRegistry } from './providers/registry.ts';
import { openStore } from './store/open.ts';
import type { Store } from './store/store.ts';
import { clusterMessages, clusterWorkflowId } from './contracts/cluster.ts';
import type { SuspectSignal } from './contracts/cluster.ts';
import { controlQueue } from './contracts/flush.ts';

async function main(): Promise<void> {
  const temporal = readForeign('TEMPORAL_*', () =>
    loadClientConnectConfig({ overrideEnvVars: temporalVariables(process.env) }),
  );
  const settings = readOrExit(() => readWorkerSettings(process.env, 'problem' in temporal ? [temporal.problem] : []));
  const { home, hostId } = settings;
  const enabled = readOrExit(() => enabledProviders({ env: process.env, home, hostId }));
  const { connectionOptions, namespace: named } = 'value' in temporal ? temporal.value : {};
  const namespace = namespaceOf(named);
  const logger = createLogger({ level: settings.logLevel, program: 'worker' });
  const objects = await openObjects(settings);
  const keys = await waitOrExit(openKeys(settings));
  const { store, deployment } = await openDatabase(settings, { ...settings, objects, keys, namespace }, logger);
  readOrExit(() => requireSettingsOf(deployment.deploymentId, enabled));
  const telemetryPort = settings.metrics === null ? null : await freeLoopbackPort();
  Runtime.install({
    logger: {
      log: (level, message, meta) => isByDesign(message) || logger[levels[level]]({ ...meta }, message),
      trace: (message, meta) => logger.trace({ ...meta }, message),
      debug: (message, meta) => logger.debug({ ...meta }, message),
      info: (message, meta) => logger.info({ ...meta }, message),
      warn: (message, meta) => isByDesign(message) || logger.warn({ ...meta }, message),
      error: (message, meta) => logger.error({ ...meta }, message),
    },
    shutdownSignals: ['SIGINT', 'SIGTERM'],
    ...(telemetryPort === null ? {} : { telemetryOptions: temporalMetrics(telemetryPort) }),
  });
  const numbers = createMetricsRegistry('worker', readVersion());
  const metrics =
    settings.metrics === null || telemetryPort === null
      ? null
      : await serveMetrics({
          ...settings.metrics,
          sources: [() => numbers.metrics(), () => readTemporalMetrics(telemetryPort)],
          onError: (error) => logger.warn({ err: error }, 'some metrics could not be read'),
        });
  if (metrics !== null) logger.info({ address: metrics.address, port: metrics.port }, 'metrics');
  const tracing =
    settings.otlpEndpoint === null ? null : (await import('./platform/tracing/worker-tracing.ts')).startWorkerTracing();

  const connection = await NativeConnection.connect(connectionOptions);
  const client = new Client({
    connection: await Connection.connect({ ...connectionOptions, ...largeMessages }),
    namespace,
  });
  // Before anything is polled: a foreign Temporal worker would end the namespace's jobs for good.
  const found = await client.withDeadline(Date.now() + 10_000, () => readNamespace(client));
  readOrExit(() => requireOwnNamespace(found, deployment));
  /** Otherwise its tasks would wait until its leases expire. A cluster that has ended needs no signal. */
  const suspect = async (cluster: number, instance: string): Promise<void> => {
    const signal: SuspectSignal = { instances: [{ instance, heardAtMs: Date.now() }] };
    await client.workflow
      .getHandle(clusterWorkflowId(cluster))
      .signal(clusterMessages.suspect, signal)
      .catch((err: unknown) =>
        logger.info({ err, cluster, instance }, 'a crashed agent could not be reported to its cluster'),
      );
  };
  // Loads only the SDKs of configured clouds.
  const launching = {
    apiUrl: settings.apiUrl,
    agentBundle: settings.agentBundle,
    nodePath: process.execPath,
    maxLocalInstances: settings.maxLocalInstances,
    onCrash: ({ cluster }: Owner, instance: string) => void suspect(cluster, instance),
  };
  const placed = (await waitOrExit(Promise.all(enabled.map(({ provider }) => provider.providers(launching))))).flat();

  const vault = createVault(objects, keys);
  const counts = createWorkerMetrics(numbers);
  const observed = [observeActivities(counts), ...(tracing === null ? [] : [tracing.activity])];
  const common = {
    connection,
    namespace,
    shutdownGraceTime: settings.drainMs,
    shutdownForceTime: settings.drainMs + 7_000,
    interceptors: { activity: observed },
  };
  const workflowModules = ['workflows/updates-last.ts', ...(tracing === null ? [] : ['workflows/tracing.ts'])].map(
    pathOf,
  );
  // A prebuilt bundle has all interceptors except those of tracing.
  const code =
    settings.workflowBundle === null || tracing !== null
      ? { workflowsPath: pathOf('workflows/index.ts'), interceptors: { workflowModules } }
      : { workflowBundle: { codePath: settings.workflowBundle }, interceptors: {} };
  const control = await Worker.create({
    ...common,
    taskQueue: controlQueue,
    ...code,
    interceptors: { ...common.interceptors, ...code.interceptors },
    activities: {
      ...createSpecActivities({ objects }),
      ...createTaskPageActivities({ objects }),
      ...createRecordActivities({ client, store, vault }),
      ...createReconcileActivities({ client, store, objects, vault }),
      ...createAdoptActivities({ client, store, objects }),
      ...createStuckWorkflowActivities({
        ...{ client, store, objects },
        replayer: { violation: createReplayer(code), buildId: () => control.options.buildId ?? '' },
        onStuck: (workflowId, outcome) => counts.stuckWorkflow(workflowId.split('/')[0] ?? '', outcome),
      }),
      ...createScheduleActivities({ store }),
      ...createSweepActivities({ client, objects }),
    },
    ...workflowTaskOptions(availableParallelism()),
  });
  const tokens = createTokens(keys);
  const providers = [];
  for (const { place, provider } of placed) {
    const registry = createRegistry([provider]);
    const activities = {
      ...createInstanceActivities({
        provider: registry,
        tokens,
        apiUrl: settings.apiUrl,
        probeApi: () => answers(`${settings.apiUrl}/healthz`),
      }),
      ...createSweepListActivities({ provider: registry }),
    };
    providers.push(
      await Worker.create({ ...common, activities, taskQueue: place.queue, maxHeartbeatThrottleInterval: '2s' }),
    );
  }
  logger.info('worker running');
  // Otherwise the compile cache is only written at a normal exit, which not every worker has.
  flushCompileCache();
  await Promise.all([control, ...providers].map((worker) => worker.run()));
  await tracing?.close();
  await metrics?.close();
  await store.close();
}

/** Never migrates; `ropewalk init` and `ropewalk dev` do. Ends the process when the database cannot be used. */
async function openDatabase(
  { databaseUrl, home }: WorkerSettings,
  parts: DeploymentParts,
  logger: Logger,
): Promise<{ store: Store; deployment: NamespaceClaim }> {
  try {
    const store = await openStore({ url: databaseUrl, file: join(home, 'ropewalk.db'), migrate: false });
    const deployment = await store.deployment.read();
    if (deployment === null) throw noDeployment();
    await requireDeployment(parts, { ...deployment, claims: store.deployment });
    return { store, deployment };
  } catch (err) {
    const hint = err instanceof RopewalkError ? err.problem.hint : undefined;
    logger.fatal({ err, hint }, 'the Temporal worker cannot use its database');
    process.exit(1);
  }
}

/** The providers' queues have activities only. */
const isByDesign = (message: string): boolean => message.startsWith('No workflows registered');

const pathOf = (file: string): string => new URL(file, import.meta.url).pathname;

/** Prometheus naming: seconds, and counters that end in _total. */
const temporalMetrics = (port: number) => ({
  metrics: {
    prometheus: {
      bindAddress: `127.0.0.1:${port}`,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
    },
  },
});

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

await main();

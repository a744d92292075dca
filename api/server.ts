// The API process: reads its environment, wires the ports, listens (on loopback by default), and drains on SIGTERM. It starts while Temporal is
// unavailable, because it connects on first use. It does not start without its database.
import { access, constants, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { serve } from '@hono/node-server';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { requestBodyMs, requestHeadersMs } from '../domain/requests/limits.ts';
import { readForeign, readOrExit, waitOrExit } from '../platform/environment.ts';
import { createHostCheck } from '../platform/host-check.ts';
import { largeMessages } from '../platform/large-messages.ts';
import { keyFileIn, openKeys } from '../platform/open-keys.ts';
import { createLogger } from '../platform/logger.ts';
import { createApiMetrics } from '../platform/metrics/api-metrics.ts';
import { createRegistry } from '../platform/metrics/registry.ts';
import { serveMetrics } from '../platform/metrics/serve.ts';
import { openFiles, openObjects } from '../platform/objects/open.ts';
import { rememberInstanceTokens } from '../platform/remembered-tokens.ts';
import { namespaceOf, temporalVariables } from '../platform/temporal-namespace.ts';
import { createTokens } from '../platform/tokens.ts';
import { createVault } from '../platform/vault/vault.ts';
import { readVersion } from '../platform/version.ts';
import { type Configured, enabledProviders, requireSettingsOf } from '../providers/manifests.ts';
import { createApp } from './app.ts';
import { limitConnections, serverOptions } from './connections.ts';
import { createDrain } from './drain.ts';
import { withKnownHosts } from './known-hosts.ts';
import { createDashboardRelay } from './relay/relay.ts';
import { createDashboardServer, dashboardHosts, websocketsOnly } from './relay/serve.ts';
import { webBundle } from './routes/web.ts';
import { maxOpenOnHost } from '../domain/admission/limits.ts';
import { openMailer } from './mail-settings.ts';
import { createSignIn } from './sign-in-settings.ts';
import { readSettings } from './settings.ts';
import { publishProgram } from '../services/agents/program.ts';
import { isStillGood } from '../services/auth/verify-token.ts';
import { readJupyterToken, rememberJupyterTokens } from '../services/clusters/jupyter.ts';
import { createDeps } from '../services/create-deps.ts';
import { runDeferredWork } from '../services/deferred-work.ts';
import { continueNumbers } from '../services/number-mark.ts';
import type { ServedProvider } from '../services/providers.ts';
import { createTemporalSchedules } from '../services/schedules/temporal-schedules.ts';
import { createNamespaceCheck } from '../services/namespace-check.ts';
import { createTemporalPort, temporalClientOptions } from '../services/temporal-port.ts';
import { openDatabase } from './database.ts';

const temporal = readForeign('TEMPORAL_*', () =>
  loadClientConnectConfig({ overrideEnvVars: temporalVariables(process.env) }),
);
const settings = readOrExit(() => readSettings(process.env, 'problem' in temporal ? [temporal.problem] : []));
const { home, hostId } = settings;
const [preferred, ...others] = readOrExit(() => enabledProviders({ env: process.env, home, hostId }));
const { connectionOptions, namespace: named } = 'value' in temporal ? temporal.value : {};
const namespace = namespaceOf(named);
const logger = createLogger({ level: settings.logLevel, program: 'api' });
const keys = await waitOrExit(openKeys(settings));
const objects = await openObjects(settings);
const { store, deployment } = await openDatabase(settings, { ...settings, objects, keys, namespace }, logger);
readOrExit(() => requireSettingsOf(deployment.deploymentId, [preferred, ...others]));
if (settings.agentBundle !== null) {
  const sha256 = await publishProgram(objects, await readFile(settings.agentBundle));
  logger.info({ sha256 }, 'the agent is there to be downloaded');
}
const tracing =
  settings.otlpEndpoint === null ? null : (await import('../platform/tracing/client-tracing.ts')).startClientTracing();
const connection = Connection.lazy({ ...connectionOptions, ...largeMessages });
const client = new Client({
  connection,
  namespace,
  ...temporalClientOptions,
  ...(tracing === null ? {} : { interceptors: { workflow: tracing.workflow } }),
});
const confirmNamespace = createNamespaceCheck(client, deployment, (error) => {
  logger.fatal({ err: error, hint: error.problem.hint }, 'the API cannot use its Temporal namespace');
  process.exit(1);
});
// Temporal may be unavailable now: then the first call of the port checks it.
const firstCheck = confirmNamespace().catch(() => undefined);
const stopping = new AbortController();
const served = async ({ manifest, provider }: Configured): Promise<ServedProvider> => ({
  manifest,
  reader: await provider.reader(),
  identity: await provider.identity(),
  places: provider.places,
  accounts: provider.accounts,
  checks: provider.checks.filter(({ doctorOnly }) => doctorOnly === undefined),
});
const providers = [
  await waitOrExit(served(preferred)),
  ...(await waitOrExit(Promise.all(others.map(served)))),
] as const;
const registry = createRegistry('api', readVersion());

const monotonicMs = (): number => performance.now();
const { publicUrl } = settings;
const read = (file: string): Promise<string> => readFile(file, 'utf8');
const signInPorts = { publicUrl, monotonicMs, read };
const mailer = settings.mail === null ? null : await waitOrExit(openMailer(settings.mail, read));
const signIn = settings.signIn === null ? null : await waitOrExit(createSignIn(settings.signIn, signInPorts));

const deps = createDeps({
  workflows: createTemporalPort(client, confirmNamespace),
  schedules: createTemporalSchedules(client, confirmNamespace),
  store,
  deploymentId: deployment.deploymentId,
  objects,
  files: await openFiles(settings),
  vault: createVault(objects, keys),
  tokens: rememberInstanceTokens(createTokens(keys)),
  keys,
  logger,
  now: Date.now,
  monotonicMs,
  publicUrl,
  signIn,
  mailer,
  mailSignIn: mailer !== null && settings.mail?.signsIn === true ? { mailer, sessionMs: settings.sessionMs } : null,
  dashboardUrl: settings.dashboards?.url ?? null,
  web: settings.webBundle === null ? null : webBundle.parse(JSON.parse(await read(settings.webBundle))),
  providers,
  stopping: stopping.signal,
  metrics: createApiMetrics(registry),
  quotas: settings.quotas,
  trustedProxies: settings.trustedProxies,
  archives: settings.archives,
  maxOpenOnHost: maxOpenOnHost(settings.maxLocalInstances),
  allowPrivateWebhooks: settings.allowPrivateWebhooks,
  ingressPolicy: settings.ingressPolicy,
  // A keys secret is read once, at the start.
  ...(settings.keysSecret === null ? { readKeys: () => access(keyFileIn(home), constants.R_OK) } : {}),
  replica: `${hostId}/${hostname()}:${settings.port}`,
  ...(tracing === null ? {} : { trace: tracing.request }),
});
// A replaced database must not assign numbers again.
await continueNumbers(deps);
const metrics =
  settings.metrics === null
    ? null
    : await serveMetrics({
        ...settings.metrics,
        sources: [() => registry.metrics()],
        onError: (error) => logger.warn({ err: error }, 'the metrics could not be read'),
      });
const { dashboards } = settings;
// Agents connect while dashboards are off too; no browser is then served, and the URL is never used.
const dashboardUrl = dashboards?.url ?? settings.publicUrl;
const relay = createDashboardRelay({
  ...deps,
  dashboardUrl,
  apiUrl: settings.publicUrl,
  isGood: (session) => isStillGood(deps, session, session.site === 'jupyter' ? 'write' : undefined),
  jupyterToken: rememberJupyterTokens((workspace, cluster) => readJupyterToken(deps, workspace, cluster), deps.now),
});
const isKnownHost = createHostCheck([new URL(settings.publicUrl).hostname, ...settings.allowedHosts]);
const fetch = withKnownHosts(isKnownHost, createApp(deps).fetch);
const connections = {
  maxConnections: settings.maxConnections,
  maxOfAddress: settings.trustedProxies > 0 ? null : Math.ceil(settings.maxConnections / 2),
  headersMs: requestHeadersMs,
  requestMs: requestBodyMs,
};
const listen = {
  hostname: settings.listen,
  port: settings.port,
  serverOptions: { ...websocketsOnly, ...serverOptions(connections) },
};
const dashboardServer = createDashboardServer(
  relay,
  dashboardHosts(dashboardUrl, settings.allowedHosts),
  serverOptions(connections),
);
limitConnections(dashboardServer, connections);
const server = serve({ fetch, ...listen }, ({ address, port }) => {
  const { publicUrl } = settings;
  const ports = { dashboardPort: dashboards?.port ?? null, metricsPort: metrics?.port ?? null };
  logger.info({ address, port, publicUrl, ...ports }, 'listening');
});
limitConnections(server, connections);
server.on('upgrade', (request, socket, head) => {
  if (isKnownHost(request)) relay.upgradeAgent(request, socket, head);
  else socket.destroy();
});
const deferredWork = runDeferredWork(deps);
const closeRest = async (): Promise<void> => {
  await tracing?.close();
  await metrics?.close();
  // Messages that still wait for the mail server are given up then.
  const settled = Promise.all([deferredWork, deps.linkMails.settled()]);
  await Promise.race([settled, sleep(settings.drainMs, undefined, { ref: false })]);
  mailer?.close();
  await deferredWork;
  await firstCheck;
  await store.close();
  await connection.close();
};
const drain = createDrain({
  server,
  maxMs: settings.drainMs,
  onDraining: () => {
    logger.info('draining: open requests are finished, new ones are refused');
    stopping.abort();
    dashboardServer.close();
    dashboardServer.closeAllConnections();
  },
  onDrained: async () => {
    await closeRest();
    logger.info('ended');
  },
});
const servers = [server, dashboardServer];
const failToListen = (error: Error): void => {
  logger.fatal({ err: error }, 'the API cannot listen');
  process.exitCode = 1;
  if (stopping.signal.aborted) return;
  stopping.abort();
  for (const one of servers) one.close();
  void closeRest();
};
for (const one of servers) one.on('error', failToListen);
if (dashboards !== null) dashboardServer.listen(dashboards.port, settings.listen);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void drain());

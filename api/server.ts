// The API process: reads its environment, wires the ports, listens on loopback, and drains when it is told to end. It
// starts while Temporal is away, since the connection is made when it is first needed.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { serve } from '@hono/node-server';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { pino } from 'pino';

import { loadKeys } from '../platform/keys.ts';
import { createDirectoryObjects } from '../platform/objects/directory.ts';
import { createTokens } from '../platform/tokens.ts';
import { createVault } from '../platform/vault/vault.ts';
import { readLogs } from '../providers/local/logs.ts';
import type { LogQuery } from '../providers/provider.ts';
import { createApp } from './app.ts';
import { createDrain } from './drain.ts';
import { createDashboardRelay } from './relay/relay.ts';
import { websocketsOnly, withDashboards } from './relay/serve.ts';
import { readSettings } from './settings.ts';
import { createTemporalPort, temporalClientOptions } from './services/temporal-port.ts';
import { createViews } from './services/views.ts';

const settings = readSettings(process.env);
const logger = pino({ level: settings.logLevel, base: { process: 'api', pid: process.pid } });
const keys = await loadKeys(join(settings.home, 'keys.json'));
const objects = createDirectoryObjects(join(settings.home, 'objects'));
const { connectionOptions, namespace } = loadClientConnectConfig();
const connection = Connection.lazy(connectionOptions);
const client = new Client({ connection, ...(namespace === undefined ? {} : { namespace }), ...temporalClientOptions });
const stopping = new AbortController();

const ports = {
  workflows: createTemporalPort(client),
  objects,
  vault: createVault(objects, keys),
  tokens: createTokens(keys),
  keys,
  logger,
  now: Date.now,
  publicUrl: settings.publicUrl,
  logs: (query: LogQuery) => readLogs(settings.home, query),
  local: { hostId: settings.hostId, cores: availableParallelism() },
  stopping: stopping.signal,
};
const relay = createDashboardRelay({ ...ports, views: createViews(ports) });
const fetch = withDashboards(relay, createApp(ports).fetch);
const listen = { hostname: '127.0.0.1', port: settings.port, serverOptions: websocketsOnly };
const server = serve({ fetch, ...listen }, ({ address, port }) => {
  logger.info({ address, port, publicUrl: settings.publicUrl }, 'listening');
});
server.on('upgrade', relay.upgrade);
const drain = createDrain({
  server,
  maxMs: 10_000,
  onDraining: () => stopping.abort(),
  onDrained: async () => {
    await connection.close();
    logger.info('ended');
  },
});
server.on('error', (error) => {
  logger.fatal({ err: error }, 'the API cannot listen');
  process.exitCode = 1;
  void connection.close();
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void drain());

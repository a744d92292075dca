// Selects the stack's Temporal: its own server from temporal-dev.yml, or an external one that TEMPORAL_ADDRESS or a profile in
// Temporal's own configuration file names.
import { randomBytes } from 'node:crypto';
import { connect as connectTcp } from 'node:net';

import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

import { RopewalkError } from '../domain/errors.ts';
import type { DevConfig } from './config.ts';
import type { Home } from './home.ts';
import { isServing } from '../ops/init/namespace.ts';
import { largeMessages } from '../platform/large-messages.ts';
import { temporalVariables } from '../platform/temporal-namespace.ts';
import type { Ports } from './ports.ts';
import type { ChildSpec } from './supervisor.ts';

export interface Temporal {
  isEmbedded: boolean;
  address: string;
  namespace: string;
  /** Opens no connection before the first call. */
  connect: () => Connection;
  /** Environment variables for API and Temporal worker, which read them with @temporalio/envconfig. */
  env: Record<string, string>;
}

/** Null when the environment names no server: the stack then starts its own. */
export function externalTemporal(env: Record<string, string>, config: DevConfig): Temporal | null {
  const { connectionOptions, namespace: named } = loadClientConnectConfig({ overrideEnvVars: temporalVariables(env) });
  const { address } = connectionOptions;
  if (address === undefined) return null;
  const namespace = named ?? config.namespace.name;
  const inherited = Object.entries(env).filter(([name]) => name.startsWith('TEMPORAL_'));
  return {
    isEmbedded: false,
    address,
    namespace,
    connect: () => Connection.lazy({ ...connectionOptions, ...largeMessages, address }),
    env: { ...Object.fromEntries(inherited), TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
  };
}

export function embeddedTemporal(ports: Ports, config: DevConfig): Temporal {
  const address = `127.0.0.1:${ports.temporal}`;
  const namespace = config.namespace.name;
  return {
    isEmbedded: true,
    address,
    namespace,
    connect: () => Connection.lazy({ ...largeMessages, address }),
    env: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
  };
}

export function temporalServer(options: {
  binary: string;
  home: Home;
  ports: Ports;
  config: DevConfig;
  env: Record<string, string>;
  connection: Connection;
}): ChildSpec {
  const { binary, home, ports, config, env, connection } = options;
  const { sqlitePragmas, dynamicConfig, logLevel, ui } = config.temporal;
  const pairs = (flag: string, values: Record<string, unknown>, show: (value: unknown) => string): string[] =>
    Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${show(value)}`]);
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(ports.temporal)];
  if (ui) args.push('--ui-ip', '127.0.0.1', '--ui-port', String(ports.ui), '--ui-disable-news-fetch');
  else args.push('--headless');
  args.push('--db-filename', home.database, '--log-level', logLevel);
  args.push(...pairs('--sqlite-pragma', sqlitePragmas, String));
  args.push(...pairs('--dynamic-config-value', { ...dynamicConfig, ...closedHttpPort() }, JSON.stringify));
  return {
    name: 'temporal',
    command: binary,
    args,
    env,
    // A refused gRPC connection backs off for a second, so a plain one is tried first.
    isHealthy: async () => (await isListening(ports.temporal)) && (await isServing(connection)),
    healthyWithinMs: 180_000,
    stopWithinMs: 10_000,
  };
}

/**
 * This server always opens an HTTP API port without sign-in. Web pages could reach it, and none of our code uses it. It
 * therefore answers only under one random host name.
 */
const closedHttpPort = (): Record<string, string[]> => ({
  'frontend.httpAllowedHosts': [`${randomBytes(16).toString('hex')}.invalid`],
});

export async function requireExternal(temporal: Temporal, connection: Connection): Promise<void> {
  if (await isServing(connection)) return;
  throw new RopewalkError({
    code: 'UNAVAILABLE',
    message: `the Temporal server at ${temporal.address} does not answer`,
    hint: 'Start it, or unset TEMPORAL_ADDRESS to use an embedded server.',
  });
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
